// SPDX-License-Identifier: Apache-2.0
// LivePage: what the canvas shows in live mode while nothing is captured: how to start, and what was found on this
// computer and what is missing, each with what to do; in a small window as much of it as there is room for. GUI thread.
#pragma once

#include <QList>
#include <QWidget>

#include "gui/live/live_session.h"

class QAction;
class QGridLayout;
class QLabel;
class QPushButton;

namespace matte {

/// Something that was found, or is missing.
struct Fact {
    bool good = false;
    QString text;
    bool operator==(const Fact&) const = default;
};

class LivePage : public QWidget {
    Q_OBJECT

public:
    LivePage(QAction* start, QAction* openVideo, QWidget* parent);
    /// What is waited for, or what a start would begin with; while something is, there is nothing to click but what is
    /// in the tool bar.
    void showStage(LiveStage stage, const QString& name);
    void showFacts(const QList<Fact>& facts);
    /// Nothing is put there: something else lies over so many of the lowest pixels.
    void keepClear(int below);
    /// Everything that is written on it, for tests and screen readers.
    [[nodiscard]] QString text() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] bool isOn() const { return stage_ > LiveStage::closing; }
    [[nodiscard]] QString title(const QString& name) const;
    [[nodiscard]] QString advice(const QString& name) const;
    void arrange();
    void layTexts();
    void leaveOut();

    QLabel* mark_;
    QLabel* title_;
    QLabel* source_;
    QPushButton* start_;
    QPushButton* video_;
    QWidget* table_;  ///< of the facts
    QGridLayout* rows_;
    QList<QLabel*> lines_;  ///< of the facts
    QList<Fact> facts_;
    QString name_;
    LiveStage stage_ = LiveStage::off;
};

}  // namespace matte
