// SPDX-License-Identifier: Apache-2.0
// LiveGroup: the panel's controls that make sense live only: mirroring, and what keeps the matte calm and clean. GUI
// thread.
#pragma once

#include <QWidget>

#include "gui/photo/document.h"

namespace matte {

class SliderRow;
class Toggle;

class LiveGroup : public QWidget {
    Q_OBJECT

public:
    explicit LiveGroup(Document& document, QWidget* parent = nullptr);
    [[nodiscard]] Toggle& mirror() { return *mirror_; }
    [[nodiscard]] SliderRow& temporalSmoothing() { return *temporalSmoothing_; }
    [[nodiscard]] Toggle& smallRegions() { return *smallRegions_; }
    [[nodiscard]] Toggle& nearest() { return *nearest_; }
    [[nodiscard]] Toggle& detail() { return *detail_; }
    /// Whether fine detail can be had: EngineInfo::fineDetail of the engine that runs.
    void offerDetail(bool offered);

private:
    void showParams(const CompositeParams& params);

    Toggle* mirror_;
    SliderRow* temporalSmoothing_;
    Toggle* smallRegions_;
    Toggle* nearest_;
    Toggle* detail_;
};

}  // namespace matte
