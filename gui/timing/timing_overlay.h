// SPDX-License-Identifier: Apache-2.0
// TimingOverlay: the times of a frame's stages and layers, over the picture. It is drawn a few times a second into a
// pixmap, which a video frame reuses. A click on a layer shows its details. GUI thread.
#pragma once

#include <QPixmap>
#include <QTimer>
#include <QWidget>

#include <functional>

#include "gui/timing/timing_chart.h"

namespace matte {

class TimingOverlay : public QWidget {
    Q_OBJECT

public:
    explicit TimingOverlay(QWidget* parent);
    /// The source of the figures. It is called a few times a second while the overlay is shown.
    void setReport(std::function<LiveReport()> report) { report_ = std::move(report); }
    /// Puts controls below the figures, with the height of their sizeHint(). Takes ownership.
    void setFooter(QWidget* footer);
    /// Forgets all figures: the source is another.
    void clear();
    [[nodiscard]] int selected() const { return view_.selected; }
    [[nodiscard]] const OverlayCost& cost() const { return cost_; }
    [[nodiscard]] QSize sizeHint() const override;
    void refresh();

Q_SIGNALS:
    void resized();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void select(int layer);
    void remember();
    void compare();
    void draw();
    [[nodiscard]] int layers() const { return int(view_.report.statistics.layerMs.size()); }

    std::function<LiveReport()> report_;
    TimingView view_;
    std::vector<std::deque<float>> history_;
    QPixmap drawn_;
    QWidget* footer_ = nullptr;
    QTimer timer_;
    OverlayCost cost_;
    Recent withIt_;               ///< what the newest frame took at each refresh(), since the overlay is shown
    std::size_t remembered_ = 0;  ///< how many frames' times the report had last
    std::uint64_t sampled_ = 0;   ///< LiveStatistics::framesOut at the newest of withIt_
    std::uint64_t hidden_ = 0;    ///< the same when the overlay was shown last
};

}  // namespace matte
