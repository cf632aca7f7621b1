// SPDX-License-Identifier: Apache-2.0
// PhotoControl: photo mode in the window. Opens photos, shows them as large as the view needs them, exports and copies
// them. GUI thread.
#pragma once

#include <QObject>

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "gui/app/settings.h"
#include "gui/photo/document.h"

namespace matte {

class Actions;
class Canvas;
class StatusLine;
class WindowBars;

/// The files that the program reads, over which nothing may be written.
using FilesRead = std::function<std::vector<std::filesystem::path>()>;

class PhotoControl : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(PhotoControl)

public:
    struct Parts {
        const Actions& actions;
        Document& document;
        PhotoSession& session;
        Canvas& canvas;
        WindowBars& bars;
        StatusLine& status;
        Settings& settings;
        FilesRead filesRead;
    };
    explicit PhotoControl(const Parts& parts, QWidget* window);

    /// Once it is cut out, it is shown; in live mode only named, unless that mode was entered before.
    void open(const PhotoSource& source);
    /// Writes the photo with this number (OpenedPhoto::number).
    void exportTo(const QString& path, int photo);
    /// Shows the result again. In photo mode also the photo's facts, and those of the engine.
    void setMode(Mode mode);
    void setShowing(Showing showing);
    [[nodiscard]] Showing showing() const { return showing_; }
    /// Of the photos; without a name until it is made.
    [[nodiscard]] const EngineInfo& engine() const { return engine_; }

Q_SIGNALS:
    /// The photo that was asked for is open: the window is to enter photo mode.
    void wanted();
    /// The document has another photo.
    void opened();
    void engineKnown(const matte::EngineInfo& info);
    /// Another list of recent files is to be remembered.
    void changed();

private:
    void connectSession();
    void connectActions(QWidget* window);
    void openSample();
    void show(const OpenedPhoto& photo);
    void requestRender();
    void showRendered(const Rendered& picture);
    void copy(bool withBackground);
    void showExported(const QString& path);
    [[nodiscard]] CompositeParams params() const;
    [[nodiscard]] bool isLive() const { return parts_.settings.live.mode == Mode::live; }

    Parts parts_;
    Showing showing_ = Showing::result;
    bool isWanted_ = false;  ///< a photo is being opened, and live mode was not entered since
    std::optional<RenderRequest> requested_;
    EngineInfo engine_;
};

}  // namespace matte
