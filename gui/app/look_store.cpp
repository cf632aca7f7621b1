// SPDX-License-Identifier: Apache-2.0
#include "gui/app/look_store.h"

#include <QSettings>

#include "gui/app/stored_values.h"
#include "inference/core/error.h"

namespace matte {

namespace {

/// What a file that doesn't say means: until version 2 a new Look's edge was harder, and it stays as it was.
float usualSoftness(const StoredValues& from) {
    constexpr int kSince = 3;
    return from.version(kSince) < kSince ? 0.6F : Look{}.softness;
}

}  // namespace

Look loadLook(const StoredValues& from) {
    Look look;
    Background& background = look.background;
    background.kind = from.choice("background", background.kind, Background::Kind::transparent);
    background.blurStrength = from.number("blur", background.blurStrength, 1, 100);
    try {
        if (from.has("color")) background.color = parseColor(from.text("color").toStdString());
    } catch (const Error&) {
        from.tellDamaged("color");
    }
    background.imagePath = from.text("image").toStdString();
    // Nothing of the room, which a picture hid.
    if (background.kind == Background::Kind::image && background.imagePath.empty()) {
        background.kind = Background::Kind::color;
    }
    background.moving = from.flag("moving", background.moving);
    background.placement = from.choice("placement", background.placement, Placement::stretch);
    background.position = from.number("position", background.position, 0, 1);
    look.threshold = from.number("threshold", look.threshold, 0, 1);
    look.softness = from.number("softness", usualSoftness(from), 0, 1);
    look.decontaminate = from.flag("decontaminate", look.decontaminate);
    look.lightWrap = from.number("lightWrap", look.lightWrap, 0, 1);
    look.stand.mirrored = from.flag("mirrored", look.stand.mirrored);
    look.stand.scale = from.number("scale", look.stand.scale, 0.25F, 4);
    look.stand.x = from.number("x", look.stand.x, -1, 1);
    look.stand.y = from.number("y", look.stand.y, -1, 1);
    look.steadiness = from.number("steadiness", look.steadiness, 0, 1);
    look.removeSpecks = from.flag("removeSpecks", look.removeSpecks);
    look.nearestOnly = from.flag("nearestOnly", look.nearestOnly);
    look.fineDetail = from.flag("fineDetail", look.fineDetail);
    return look;
}

void saveLook(QSettings& store, const QString& group, const Look& look) {
    const auto keep = [&](const char* key, const QVariant& value) { store.setValue(group + '/' + key, value); };
    const Background& background = look.background;
    keep("background", int(background.kind));
    keep("blur", double(background.blurStrength));
    Background color = background;
    color.kind = Background::Kind::color;
    keep("color", QString::fromStdString(toString(color)).section(':', 1));
    keep("image", QString::fromStdString(background.imagePath));
    keep("moving", background.moving);
    keep("placement", int(background.placement));
    keep("position", double(background.position));
    keep("threshold", double(look.threshold));
    keep("softness", double(look.softness));
    keep("decontaminate", look.decontaminate);
    keep("lightWrap", double(look.lightWrap));
    keep("mirrored", look.stand.mirrored);
    keep("scale", double(look.stand.scale));
    keep("x", double(look.stand.x));
    keep("y", double(look.stand.y));
    keep("steadiness", double(look.steadiness));
    keep("removeSpecks", look.removeSpecks);
    keep("nearestOnly", look.nearestOnly);
    keep("fineDetail", look.fineDetail);
}

}  // namespace matte
