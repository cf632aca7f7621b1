// SPDX-License-Identifier: Apache-2.0
// EnginePicker: the menus for the model and the precision of live mode. Another choice takes over between two frames,
// once its engine is ready. GUI thread.
#pragma once

#include <QObject>

#include <functional>
#include <string>

#include "gui/live/live_session.h"

namespace matte {

class ChoiceMenu;

/// The network of live mode.
struct EngineChoice {
    std::string model;  ///< as findModel() takes it; empty: the default
    Precision precision = Precision::fast;
    bool operator==(const EngineChoice&) const = default;
};

class EnginePicker : public QObject {
    Q_OBJECT

public:
    using EnginesFor = std::function<MakeLiveEngines(const EngineChoice&)>;

    /// `running` is the session's choice. Without `enginesFor` there is nothing to choose, and the menus are hidden.
    EnginePicker(
        LiveSession& session, ChoiceMenu& models, ChoiceMenu& precisions, EnginesFor enginesFor, EngineChoice running);
    void choose(const EngineChoice& choice);

Q_SIGNALS:
    /// The choice can't run, and the engine before goes on.
    void failed(const QString& sentence);

private:
    void statusChanged(const LiveStatus& status);
    void showChoice();

    LiveSession& session_;
    ChoiceMenu &models_, &precisions_;
    EnginesFor enginesFor_;
    EngineChoice running_, chosen_;
};

}  // namespace matte
