// SPDX-License-Identifier: Apache-2.0
#include "gui/app/settings.h"

#include <QCoreApplication>
#include <QDataStream>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRect>
#include <QSettings>

#include <cstdlib>

#include "gui/app/params_store.h"
#include "gui/app/stored_values.h"

namespace matte {
namespace {

constexpr char kProfiles[] = "profiles";

QString groupOf(int profile) {
    return QString("%1/%2").arg(kProfiles).arg(profile);
}

LiveSource loadSource(const StoredValues& from, const LiveSource& fallback) {
    const QString line = from.text("source");
    if (line.isEmpty()) return fallback;
    bool damaged = false;
    const LiveSource source = liveSourceFrom(line, &damaged);
    if (damaged) from.tellDamaged("source");
    return source;
}

/// How many there are is not asked: a damaged number would lose them all.
QList<Profile> loadProfiles(const QSettings& store, QStringList& damaged) {
    QList<Profile> profiles;
    for (int i = 1; i <= LiveSettings::kMaxProfiles; ++i) {
        const StoredValues from(store, groupOf(i), damaged);
        if (!from.has("name")) continue;
        const QString unnamed = QCoreApplication::translate("matte::Profiles", "Profile %1").arg(i);
        const QString name = from.text("name", unnamed);
        profiles.append({name.isEmpty() ? unnamed : name, loadParams(from), loadSource(from, {})});
    }
    return profiles;
}

/// Version 1 knew photos only; from a later version than ours, what we know is read.
LiveSettings loadLive(const QSettings& store, QStringList& damaged) {
    const StoredValues from(store, "live", damaged);
    LiveSettings live;
    live.mode = from.choice("mode", live.mode, Mode::live);
    live.source = loadSource(from, live.source);
    live.mirrorCameras = from.flag("mirrorCameras", live.mirrorCameras);
    live.mirrorOthers = from.flag("mirrorOthers", live.mirrorOthers);
    live.overlayVisible = from.flag("overlay", live.overlayVisible);
    live.snapshotFolder = from.text("snapshotFolder");
    live.videoFolder = from.text("videoFolder");
    live.profiles = loadProfiles(store, damaged);
    return live;
}

/// As QWidget::saveGeometry() writes it, and of no larger a window than there are screens: what is damaged would be
/// believed.
bool isGeometry(const QByteArray& bytes) {
    constexpr quint32 kMagic = 0x1D9D0CB;
    constexpr qint64 kMostSide = 16384, kFarthest = 65536;
    QDataStream stream(bytes);
    stream.setVersion(QDataStream::Qt_4_0);
    quint32 magic = 0;
    quint16 major = 0, minor = 0;
    QRect frame, normal, inner;
    qint32 screen = 0, screenWidth = 0;
    quint8 maximized = 0, fullScreen = 0;
    stream >> magic >> major >> minor >> frame >> normal >> screen >> maximized >> fullScreen >> screenWidth >> inner;
    if (stream.status() != QDataStream::Ok || magic != kMagic) return false;
    const auto fits = [](const QRect& rect) {
        const qint64 width = qint64(rect.right()) - rect.left() + 1, height = qint64(rect.bottom()) - rect.top() + 1;
        return std::abs(qint64(rect.left())) <= kFarthest && std::abs(qint64(rect.top())) <= kFarthest && width >= 0 &&
               width <= kMostSide && height >= 0 && height <= kMostSide;
    };
    return fits(frame) && fits(normal) && fits(inner) && maximized <= 1 && fullScreen <= 1;
}

void saveLive(QSettings& store, const LiveSettings& live) {
    store.setValue("live/mode", int(live.mode));
    store.setValue("live/source", toText(live.source));
    store.setValue("live/mirrorCameras", live.mirrorCameras);
    store.setValue("live/mirrorOthers", live.mirrorOthers);
    store.setValue("live/overlay", live.overlayVisible);
    store.setValue("live/snapshotFolder", live.snapshotFolder);
    store.setValue("live/videoFolder", live.videoFolder);
    store.remove(kProfiles);
    store.setValue(QString(kProfiles) + "/count", int(live.profiles.size()));
    for (int i = 1; i <= live.profiles.size(); ++i) {
        const QString group = groupOf(i);
        const Profile& profile = live.profiles[i - 1];
        store.setValue(group + "/name", profile.name);
        store.setValue(group + "/source", toText(profile.source));
        saveParams(store, group, profile.params);
    }
}

/// Addresses of streams may hold passwords: the file is its owner's alone, also before there is anything in it.
void makePrivate(const QString& path) {
    constexpr auto owner = QFile::ReadOwner | QFile::WriteOwner;
    QFile file(path);
    if (file.exists()) {
        file.setPermissions(owner);
    } else if (QDir().mkpath(QFileInfo(path).absolutePath())) {
        [[maybe_unused]] const bool made = file.open(QFile::WriteOnly, owner);
    }
}

}  // namespace

void Settings::addRecent(const QString& path) {
    recentFiles.removeAll(path);
    recentFiles.prepend(path);
    while (recentFiles.size() > kMaxRecent) recentFiles.removeLast();
}

Settings Settings::load(const QSettings& store, QStringList& damaged) {
    Settings settings;
    [[maybe_unused]] const QStringList all = store.allKeys();  // parses all of the file, and so finds broken lines
    const StoredValues window(store, "window", damaged), files(store, "files", damaged);
    settings.geometry = window.bytes("geometry");
    if (!settings.geometry.isEmpty() && !isGeometry(settings.geometry)) {
        settings.geometry.clear();
        window.tellDamaged("geometry");
    }
    settings.panelVisible = window.flag("panel", settings.panelVisible);
    settings.splitVisible = window.flag("split", settings.splitVisible);
    settings.theme = window.choice("theme", settings.theme, ThemeChoice::dark);
    settings.recentFiles = files.texts("recent", kMaxRecent);
    settings.openFolder = files.text("openFolder");
    settings.exportFolder = files.text("exportFolder");
    settings.backgroundFolder = files.text("backgroundFolder");
    settings.params = loadParams({store, "look", damaged});
    settings.live = loadLive(store, damaged);
    if (damaged.isEmpty() && store.status() == QSettings::FormatError)
        damaged.append(QFileInfo(store.fileName()).fileName());
    return settings;
}

void Settings::save(QSettings& store) const {
    makePrivate(store.fileName());
    store.setValue("version", kVersion);
    store.setValue("window/geometry", geometry);
    store.setValue("window/panel", panelVisible);
    store.setValue("window/split", splitVisible);
    store.setValue("window/theme", int(theme));
    store.setValue("files/recent", recentFiles);
    store.setValue("files/openFolder", openFolder);
    store.setValue("files/exportFolder", exportFolder);
    store.setValue("files/backgroundFolder", backgroundFolder);
    saveParams(store, "look", params);
    saveLive(store, live);
}

}  // namespace matte
