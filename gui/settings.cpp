// SPDX-License-Identifier: Apache-2.0
#include "gui/settings.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>

#include "gui/look_store.h"

namespace matte {
namespace {

constexpr char kProfiles[] = "profiles";

/// Version 1 knew photos only; from a later version than ours, what we know is read.
void loadLive(const QSettings& store, LiveSettings& live) {
    live.mode = storedChoice(store.value("live/mode").toInt(), live.mode, Mode::live);
    live.source = liveSourceFrom(store.value("live/source", toText(live.source)).toString());
    live.mirrorCameras = store.value("live/mirrorCameras", live.mirrorCameras).toBool();
    live.mirrorOthers = store.value("live/mirrorOthers", live.mirrorOthers).toBool();
    live.overlayVisible = store.value("live/overlay", live.overlayVisible).toBool();
    live.snapshotFolder = store.value("live/snapshotFolder").toString();
    live.videoFolder = store.value("live/videoFolder").toString();
    const int count = std::clamp(store.value(QString(kProfiles) + "/count").toInt(), 0, LiveSettings::kMaxProfiles);
    for (int i = 1; i <= count; ++i) {
        const QString group = QString("%1/%2").arg(kProfiles).arg(i);
        live.profiles.append({store.value(group + "/name").toString(), loadLook(store, group),
                              liveSourceFrom(store.value(group + "/source").toString())});
    }
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
        const QString group = QString("%1/%2").arg(kProfiles).arg(i);
        const Profile& profile = live.profiles[i - 1];
        store.setValue(group + "/name", profile.name);
        store.setValue(group + "/source", toText(profile.source));
        saveLook(store, group, profile.look);
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

Settings Settings::load(const QSettings& store) {
    Settings settings;
    settings.geometry = store.value("window/geometry").toByteArray();
    settings.panelVisible = store.value("window/panel", settings.panelVisible).toBool();
    settings.splitVisible = store.value("window/split", settings.splitVisible).toBool();
    settings.theme = storedChoice(store.value("window/theme").toInt(), settings.theme, ThemeChoice::dark);
    settings.recentFiles = store.value("files/recent").toStringList().mid(0, kMaxRecent);
    settings.openFolder = store.value("files/openFolder").toString();
    settings.exportFolder = store.value("files/exportFolder").toString();
    settings.backgroundFolder = store.value("files/backgroundFolder").toString();
    settings.look = loadLook(store, "look");
    loadLive(store, settings.live);
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
    saveLook(store, "look", look);
    saveLive(store, live);
}

}  // namespace matte
