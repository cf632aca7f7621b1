// SPDX-License-Identifier: Apache-2.0
// ParamKeys: the keys that turn parts of the parameters on and off. A strength that was turned off comes back as it
// was. GUI thread.
#pragma once

#include <QObject>

#include "gui/photo/document.h"

namespace matte {

class Actions;

class ParamKeys : public QObject {
    Q_OBJECT

public:
    ParamKeys(Document& document, const Actions& actions, QObject* parent = nullptr);

private:
    float temporalSmoothing_ = CompositeParams{}.temporalSmoothing, lightWrap_ = 0.5F;  ///< what on means
};

}  // namespace matte
