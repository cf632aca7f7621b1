// SPDX-License-Identifier: Apache-2.0
// Settings: what the window stores from one session to the next. A plain value. GUI thread.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

#include "gui/live/live_source.h"
#include "inference/core/composite_params.h"

class QSettings;

namespace matte {

enum class ThemeChoice { system = 1, light, dark };

/// What the window works on.
enum class Mode { photo = 1, live };

/// Compositing parameters and a source that belong together, under a name.
struct Profile {
    QString name;
    CompositeParams params;
    LiveSource source;
    bool operator==(const Profile&) const = default;
};

struct LiveSettings {
    static constexpr int kMaxProfiles = 9;  ///< as many as there are keys

    Mode mode = Mode::photo;
    LiveSource source;
    bool mirrorCameras = true, mirrorOthers = false;
    bool overlayVisible = false;
    QString snapshotFolder, videoFolder;
    QList<Profile> profiles;
    bool operator==(const LiveSettings&) const = default;
};

struct Settings {
    static constexpr int kVersion = 3;  ///< of the layout of the file; a later one is read as far as it is understood
    static constexpr int kMaxRecent = 10;

    QByteArray geometry;
    CompositeParams params;  ///< background.image is not kept: it is read again from imagePath
    QStringList recentFiles;
    QString openFolder, exportFolder, backgroundFolder;
    ThemeChoice theme = ThemeChoice::system;
    bool panelVisible = true;
    bool splitVisible = true;
    LiveSettings live;

    /// Puts `path` first, once.
    void addRecent(const QString& path);

    /// A value that is missing or damaged has its default, or the nearest allowed value. `damaged` takes the names of
    /// damaged values, such as "window/geometry".
    static Settings load(const QSettings& store, QStringList& damaged);
    void save(QSettings& store) const;
    bool operator==(const Settings&) const = default;
};

}  // namespace matte
