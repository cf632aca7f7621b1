// SPDX-License-Identifier: Apache-2.0
// LookKeys: the keys that turn parts of the look on and off. A strength that was turned off comes back as it was. GUI
// thread.
#pragma once

#include <QObject>

#include "gui/photo/document.h"

namespace matte {

class Actions;

class LookKeys : public QObject {
    Q_OBJECT

public:
    LookKeys(Document& document, const Actions& actions, QObject* parent = nullptr);

private:
    float steadiness_ = Look{}.steadiness, lightWrap_ = 0.5F;  ///< what on means
};

}  // namespace matte
