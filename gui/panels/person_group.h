// SPDX-License-Identifier: Apache-2.0
// PersonGroup: the panel's controls of the person: how much light falls on the edge, how large and where they stand.
// GUI thread.
#pragma once

#include <QWidget>

#include "gui/photo/document.h"

namespace matte {

class SliderRow;

class PersonGroup : public QWidget {
    Q_OBJECT

public:
    explicit PersonGroup(Document& document, QWidget* parent = nullptr);
    [[nodiscard]] SliderRow& lightWrap() { return *lightWrap_; }
    [[nodiscard]] SliderRow& scale() { return *scale_; }
    [[nodiscard]] SliderRow& across() { return *across_; }
    [[nodiscard]] SliderRow& down() { return *down_; }

private:
    void showParams(const CompositeParams& params);

    SliderRow* lightWrap_;
    SliderRow* scale_;
    SliderRow* across_;
    SliderRow* down_;
};

/// How a person is moved or scaled by a gesture on the picture; kept within what a SubjectTransform may be.
void moveSubject(SubjectTransform& transform, double dx, double dy);
void scaleSubject(SubjectTransform& transform, double factor);

}  // namespace matte
