// SPDX-License-Identifier: Apache-2.0
// Settings: what the window remembers from one start to the next, as a plain value. GUI thread.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "inference/look.h"

class QSettings;

namespace matte {

enum class ThemeChoice { system = 1, light, dark };

struct Settings {
    static constexpr int kVersion = 1;  ///< of the layout of the file; a later one is read as far as it is understood
    static constexpr int kMaxRecent = 10;

    QByteArray geometry;
    Look look;  ///< background.image is not kept: it is read again from imagePath
    QStringList recentFiles;
    QString openFolder, exportFolder, backgroundFolder;
    ThemeChoice theme = ThemeChoice::system;
    bool panelVisible = true;
    bool splitVisible = true;

    /// Puts `path` first, once.
    void addRecent(const QString& path);

    /// What is missing or damaged is as in a new Settings.
    static Settings load(const QSettings& store);
    void save(QSettings& store) const;
    bool operator==(const Settings&) const = default;
};

}  // namespace matte
