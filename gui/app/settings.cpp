// SPDX-License-Identifier: Apache-2.0
#include "gui/app/settings.h"

#include <QColor>
#include <QCoreApplication>
#include <QDataStream>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRect>
#include <QSettings>

#include <cstdlib>

#include "gui/app/stored_values.h"
#include "inference/core/error.h"

namespace matte {
namespace {

constexpr char kProfiles[] = "profiles";

QString groupOf(int profile) {
    return QString("%1/%2").arg(kProfiles).arg(profile);
}

void describe(StoredValues& values, LiveSource& source) {
    QString line = toText(source);
    values.text("source", line);
    if (line.isEmpty()) return;
    bool damaged = false;
    source = liveSourceFrom(line, &damaged);
    if (damaged) values.tellDamaged("source");
}

void describe(StoredValues& values, CompositeParams& params) {
    Background& background = params.background;
    values.choice("background", background.kind, Background::Kind::transparent);
    values.number("blur", background.blurStrength, 1, 100);
    QString color = QColor(background.color.r, background.color.g, background.color.b).name();
    values.text("color", color);
    try {
        background.color = parseColor(color.toStdString());
    } catch (const Error&) {
        values.tellDamaged("color");
    }
    values.text("image", background.imagePath);
    values.flag("moving", background.moving);
    values.choice("placement", background.placement, Placement::stretch);
    values.number("position", background.position, 0, 1);
    values.number("threshold", params.threshold, 0, 1);
    values.number("softness", params.softness, 0, 1);
    values.flag("decontaminate", params.decontaminate);
    values.number("lightWrap", params.lightWrap, 0, 1);
    values.flag("mirrored", params.transform.mirrored);
    values.number("scale", params.transform.scale, 0.25F, 4);
    values.number("x", params.transform.x, -1, 1);
    values.number("y", params.transform.y, -1, 1);
    values.number("steadiness", params.temporalSmoothing, 0, 1);
    values.flag("removeSpecks", params.removeSmallRegions);
    values.flag("nearestOnly", params.nearestOnly);
    values.flag("fineDetail", params.fineDetail);
}

/// Version 1 knew photos only; from a later version than ours, what we know is read.
void describe(StoredValues& values, LiveSettings& live) {
    values.choice("mode", live.mode, Mode::live);
    describe(values, live.source);
    values.flag("mirrorCameras", live.mirrorCameras);
    values.flag("mirrorOthers", live.mirrorOthers);
    values.flag("overlay", live.overlayVisible);
    values.text("snapshotFolder", live.snapshotFolder);
    values.text("videoFolder", live.videoFolder);
}

void describe(StoredValues& window, StoredValues& files, Settings& settings) {
    window.bytes("geometry", settings.geometry);
    window.flag("panel", settings.panelVisible);
    window.flag("split", settings.splitVisible);
    window.choice("theme", settings.theme, ThemeChoice::dark);
    files.texts("recent", settings.recentFiles, Settings::kMaxRecent);
    files.text("openFolder", settings.openFolder);
    files.text("exportFolder", settings.exportFolder);
    files.text("backgroundFolder", settings.backgroundFolder);
}

CompositeParams loadParams(StoredValues& values) {
    CompositeParams params;
    constexpr int kSofterSince = 3;  // before it, a file without a softness meant a harder edge
    if (values.version(kSofterSince) < kSofterSince) params.softness = 0.6F;
    describe(values, params);
    Background& background = params.background;
    // Nothing of the room, which a picture hid.
    if (background.kind == Background::Kind::image && background.imagePath.empty())
        background.kind = Background::Kind::color;
    return params;
}

/// How many there are is not asked: a damaged number would lose them all.
QList<Profile> loadProfiles(const QSettings& store, QStringList& damaged) {
    QList<Profile> profiles;
    for (int i = 1; i <= LiveSettings::kMaxProfiles; ++i) {
        StoredValues values(store, groupOf(i), damaged);
        if (!values.has("name")) continue;
        const QString unnamed = QCoreApplication::translate("matte::Profiles", "Profile %1").arg(i);
        Profile profile{unnamed, loadParams(values), {}};
        values.text("name", profile.name);
        if (profile.name.isEmpty()) profile.name = unnamed;
        describe(values, profile.source);
        profiles.append(profile);
    }
    return profiles;
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
    StoredValues window(store, "window", damaged), files(store, "files", damaged), look(store, "look", damaged),
        live(store, "live", damaged);
    describe(window, files, settings);
    if (!settings.geometry.isEmpty() && !isGeometry(settings.geometry)) {
        settings.geometry.clear();
        window.tellDamaged("geometry");
    }
    settings.params = loadParams(look);
    describe(live, settings.live);
    settings.live.profiles = loadProfiles(store, damaged);
    if (damaged.isEmpty() && store.status() == QSettings::FormatError)
        damaged.append(QFileInfo(store.fileName()).fileName());
    return settings;
}

void Settings::save(QSettings& store) const {
    makePrivate(store.fileName());
    store.setValue("version", kVersion);
    Settings settings = *this;
    StoredValues window(store, "window"), files(store, "files"), look(store, "look"), ofLive(store, "live");
    describe(window, files, settings);
    describe(look, settings.params);
    describe(ofLive, settings.live);
    store.remove(kProfiles);
    store.setValue(QString(kProfiles) + "/count", int(live.profiles.size()));
    for (int i = 1; i <= live.profiles.size(); ++i) {
        StoredValues values(store, groupOf(i));
        Profile& profile = settings.live.profiles[i - 1];
        values.text("name", profile.name);
        describe(values, profile.params);
        describe(values, profile.source);
    }
}

}  // namespace matte
