// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/look_keys.h"

#include "gui/window/actions.h"

namespace matte {
namespace {

void turn(float& strength, float& whenOn) {
    if (strength > 0) whenOn = strength;
    strength = strength > 0 ? 0 : whenOn;
}

}  // namespace

LookKeys::LookKeys(Document& document, const Actions& actions, QObject* parent) : QObject(parent) {
    const auto on = [&](ActionId id, LookControl control, auto change) {
        connect(actions[id], &QAction::triggered, this,
                [&document, control, change] { document.step(control, change); });
    };
    on(ActionId::mirror, LookControl::mirror, [](Look& look) { look.stand.mirrored = !look.stand.mirrored; });
    on(ActionId::specks, LookControl::specks, [](Look& look) { look.removeSpecks = !look.removeSpecks; });
    on(ActionId::nearest, LookControl::nearest, [](Look& look) { look.nearestOnly = !look.nearestOnly; });
    on(ActionId::detail, LookControl::detail, [](Look& look) { look.fineDetail = !look.fineDetail; });
    on(ActionId::cleanEdges, LookControl::decontaminate, [](Look& look) { look.decontaminate = !look.decontaminate; });
    on(ActionId::steady, LookControl::steadiness, [this](Look& look) { turn(look.steadiness, steadiness_); });
    on(ActionId::wrap, LookControl::lightWrap, [this](Look& look) { turn(look.lightWrap, lightWrap_); });
    on(ActionId::resetStand, LookControl::position, [](Look& look) { look.stand = {.mirrored = look.stand.mirrored}; });
}

}  // namespace matte
