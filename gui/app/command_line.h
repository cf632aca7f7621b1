// SPDX-License-Identifier: Apache-2.0
// The window program's command line. Needs no QApplication, so that --help works without a display.
#pragma once

#include <QString>
#include <QStringList>

#include <optional>

#include "gui/app/headless_run.h"
#include "inference/baselines/implementation.h"
#include "inference/engine/engine.h"

namespace matte {

struct CommandLine {
    QString photo;                         ///< absolute; empty for none
    QString model;                         ///< file or name; empty for the default model
    QString config;                        ///< settings file; empty for the user's own
    std::optional<Background> background;  ///< imagePath is absolute, image is not loaded
    EngineOptions engine;
    const baselines::Implementation* implementation = nullptr;  ///< for the network; null for the product's own
    AutomationOptions automation;                               ///< what to do without the user
    bool interop = true;          ///< false: pictures are uploaded even where they could stay on the device
    bool virtualCamera = false;   ///< other programs see what is shown, from the start on
    QStringList forQt;            ///< the program's name and the options of Qt's own: all that QApplication is to see
    std::optional<int> exitCode;  ///< set when the program is to end at once: help, version or a wrong option
};

/// Prints help and version to stdout and what is wrong to stderr. GUI thread.
CommandLine parseCommandLine(const QStringList& arguments);

/// To stderr, for whoever started the program.
void complain(const QString& sentence);

}  // namespace matte
