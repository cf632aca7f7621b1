// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/param_keys.h"

#include "gui/window/actions.h"

namespace matte {
namespace {

void turn(float& strength, float& whenOn) {
    if (strength > 0) whenOn = strength;
    strength = strength > 0 ? 0 : whenOn;
}

}  // namespace

ParamKeys::ParamKeys(Document& document, const Actions& actions, QObject* parent) : QObject(parent) {
    const auto on = [&](ActionId id, ParamControl control, auto change) {
        connect(actions[id], &QAction::triggered, this,
                [&document, control, change] { document.step(control, change); });
    };
    on(ActionId::mirror, ParamControl::mirror,
       [](CompositeParams& params) { params.transform.mirrored = !params.transform.mirrored; });
    on(ActionId::smallRegions, ParamControl::smallRegions,
       [](CompositeParams& params) { params.removeSmallRegions = !params.removeSmallRegions; });
    on(ActionId::nearest, ParamControl::nearest,
       [](CompositeParams& params) { params.nearestOnly = !params.nearestOnly; });
    on(ActionId::detail, ParamControl::detail, [](CompositeParams& params) { params.fineDetail = !params.fineDetail; });
    on(ActionId::cleanEdges, ParamControl::decontaminate,
       [](CompositeParams& params) { params.decontaminate = !params.decontaminate; });
    on(ActionId::temporalSmoothing, ParamControl::temporalSmoothing,
       [this](CompositeParams& params) { turn(params.temporalSmoothing, temporalSmoothing_); });
    on(ActionId::wrap, ParamControl::lightWrap,
       [this](CompositeParams& params) { turn(params.lightWrap, lightWrap_); });
    on(ActionId::resetTransform, ParamControl::position,
       [](CompositeParams& params) { params.transform = {.mirrored = params.transform.mirrored}; });
}

}  // namespace matte
