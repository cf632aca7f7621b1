// SPDX-License-Identifier: Apache-2.0
// BackgroundChooser: puts a picture or a video behind the person as soon as it is read. Until then the background
// before stays, and another choice of the user goes before the picture that is being read. GUI thread.
//
//     BackgroundChooser backgrounds(document, session);
//     backgrounds.choose("beach.jpg");   // settled(), and the document has it
#pragma once

#include <QObject>

#include <optional>
#include <string>

#include "gui/photo/document.h"

namespace matte {

class BackgroundChooser : public QObject {
    Q_OBJECT

public:
    BackgroundChooser(Document& document, PhotoSession& session, QObject* parent = nullptr);

    /// As an undo step of its own.
    void choose(const QString& path);
    /// Takes over the parameters of the last session, without a step. While their picture is being read, and where it
    /// can't be, its colour is shown: nothing of the room.
    void restore(CompositeParams params);
    /// Takes over a profile's parameters as one step, of which a picture that is read later is a part.
    void applyProfile(CompositeParams params);
    /// Undoes the last step of the document; a picture that was asked for in it is given up.
    void undo();
    /// The picture that is being read is not wanted any longer.
    void giveUp();
    [[nodiscard]] bool isReading() const { return awaited_.has_value(); }
    /// The parameters to remember: with the picture that is being read, or could not be read in this session.
    [[nodiscard]] CompositeParams wantedParams() const;

Q_SIGNALS:
    /// No picture is being read any longer: it is the background, or was given up.
    void settled();

private:
    /// The picture that is being read.
    struct Awaited {
        std::string path;
        std::optional<ParamControl> control{};  ///< of its step; none: it is restored
        Background before{};                    ///< the background meanwhile
        std::optional<Background> laid{};       ///< the profile's placement and colours; none: those of `before`
        int step = 0;                           ///< of which it is a part; 0: of one of its own
        int since = 0;                          ///< the last step when it was asked for
    };
    static void lay(Background& into, const Awaited& awaited, const Background& read);
    void await(Awaited picture);
    void loaded(const Background& read);
    void changed(Background now);

    Document& document_;
    PhotoSession& session_;
    std::optional<Awaited> awaited_;
    std::optional<Background> standIn_;  ///< in place of a restored picture that is not read
};

}  // namespace matte
