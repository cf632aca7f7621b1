// SPDX-License-Identifier: Apache-2.0
#include "gui/settings.h"

#include <QSettings>

#include <algorithm>
#include <cmath>

#include "inference/error.h"

namespace matte {
namespace {

float number(const QSettings& store, const char* key, float fallback, float least, float most) {
    bool ok = false;
    const float value = store.value(key, fallback).toFloat(&ok);
    return ok && std::isfinite(value) ? std::clamp(value, least, most) : fallback;
}

template <typename Enum>
Enum choice(const QSettings& store, const char* key, Enum fallback, Enum last) {
    const int value = store.value(key, int(fallback)).toInt();
    return value >= 1 && value <= int(last) ? Enum(value) : fallback;
}

Look loadLook(const QSettings& store) {
    Look look;
    Background& background = look.background;
    background.kind = choice(store, "look/background", background.kind, Background::Kind::transparent);
    background.blurStrength = number(store, "look/blur", background.blurStrength, 1, 100);
    try {
        background.color = parseColor(store.value("look/color").toString().toStdString());
    } catch (const Error&) {
        background.color = Background{}.color;  // absent or edited by hand
    }
    background.imagePath = store.value("look/image").toString().toStdString();
    background.placement = choice(store, "look/placement", background.placement, Placement::stretch);
    look.threshold = number(store, "look/threshold", look.threshold, 0, 1);
    look.softness = number(store, "look/softness", look.softness, 0, 1);
    look.decontaminate = store.value("look/decontaminate", look.decontaminate).toBool();
    return look;
}

void saveLook(QSettings& store, const Look& look) {
    const Background& background = look.background;
    store.setValue("look/background", int(background.kind));
    store.setValue("look/blur", double(background.blurStrength));
    Background color = background;
    color.kind = Background::Kind::color;
    store.setValue("look/color", QString::fromStdString(toString(color)).section(':', 1));
    store.setValue("look/image", QString::fromStdString(background.imagePath));
    store.setValue("look/placement", int(background.placement));
    store.setValue("look/threshold", double(look.threshold));
    store.setValue("look/softness", double(look.softness));
    store.setValue("look/decontaminate", look.decontaminate);
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
    settings.theme = choice(store, "window/theme", settings.theme, ThemeChoice::dark);
    settings.recentFiles = store.value("files/recent").toStringList().mid(0, kMaxRecent);
    settings.openFolder = store.value("files/openFolder").toString();
    settings.exportFolder = store.value("files/exportFolder").toString();
    settings.backgroundFolder = store.value("files/backgroundFolder").toString();
    settings.look = loadLook(store);
    return settings;
}

void Settings::save(QSettings& store) const {
    store.setValue("version", kVersion);
    store.setValue("window/geometry", geometry);
    store.setValue("window/panel", panelVisible);
    store.setValue("window/split", splitVisible);
    store.setValue("window/theme", int(theme));
    store.setValue("files/recent", recentFiles);
    store.setValue("files/openFolder", openFolder);
    store.setValue("files/exportFolder", exportFolder);
    store.setValue("files/backgroundFolder", backgroundFolder);
    saveLook(store, look);
}

}  // namespace matte
