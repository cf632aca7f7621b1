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
    [[nodiscard]] SliderRow& steadiness() { return *steadiness_; }
    [[nodiscard]] Toggle& specks() { return *specks_; }
    [[nodiscard]] Toggle& nearest() { return *nearest_; }
    [[nodiscard]] Toggle& detail() { return *detail_; }
    /// Whether fine detail can be had: EngineInfo::fineDetail of the engine that runs.
    void offerDetail(bool offered);

private:
    void showLook(const Look& look);

    Toggle* mirror_;
    SliderRow* steadiness_;
    Toggle* specks_;
    Toggle* nearest_;
    Toggle* detail_;
};

}  // namespace matte
