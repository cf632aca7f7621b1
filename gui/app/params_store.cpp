// SPDX-License-Identifier: Apache-2.0
#include "gui/app/params_store.h"

#include <QSettings>

#include "gui/app/stored_values.h"
#include "inference/core/error.h"

namespace matte {

namespace {

/// What a file that doesn't say means: until version 2 a new CompositeParams had a harder edge, and it stays as it was.
float usualSoftness(const StoredValues& from) {
    constexpr int kSince = 3;
    return from.version(kSince) < kSince ? 0.6F : CompositeParams{}.softness;
}

}  // namespace

CompositeParams loadParams(const StoredValues& from) {
    CompositeParams params;
    Background& background = params.background;
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
    params.threshold = from.number("threshold", params.threshold, 0, 1);
    params.softness = from.number("softness", usualSoftness(from), 0, 1);
    params.decontaminate = from.flag("decontaminate", params.decontaminate);
    params.lightWrap = from.number("lightWrap", params.lightWrap, 0, 1);
    params.transform.mirrored = from.flag("mirrored", params.transform.mirrored);
    params.transform.scale = from.number("scale", params.transform.scale, 0.25F, 4);
    params.transform.x = from.number("x", params.transform.x, -1, 1);
    params.transform.y = from.number("y", params.transform.y, -1, 1);
    params.temporalSmoothing = from.number("steadiness", params.temporalSmoothing, 0, 1);
    params.removeSmallRegions = from.flag("removeSpecks", params.removeSmallRegions);
    params.nearestOnly = from.flag("nearestOnly", params.nearestOnly);
    params.fineDetail = from.flag("fineDetail", params.fineDetail);
    return params;
}

void saveParams(QSettings& store, const QString& group, const CompositeParams& params) {
    const auto keep = [&](const char* key, const QVariant& value) { store.setValue(group + '/' + key, value); };
    const Background& background = params.background;
    keep("background", int(background.kind));
    keep("blur", double(background.blurStrength));
    Background color = background;
    color.kind = Background::Kind::color;
    keep("color", QString::fromStdString(toString(color)).section(':', 1));
    keep("image", QString::fromStdString(background.imagePath));
    keep("moving", background.moving);
    keep("placement", int(background.placement));
    keep("position", double(background.position));
    keep("threshold", double(params.threshold));
    keep("softness", double(params.softness));
    keep("decontaminate", params.decontaminate);
    keep("lightWrap", double(params.lightWrap));
    keep("mirrored", params.transform.mirrored);
    keep("scale", double(params.transform.scale));
    keep("x", double(params.transform.x));
    keep("y", double(params.transform.y));
    keep("steadiness", double(params.temporalSmoothing));
    keep("removeSpecks", params.removeSmallRegions);
    keep("nearestOnly", params.nearestOnly);
    keep("fineDetail", params.fineDetail);
}

}  // namespace matte
