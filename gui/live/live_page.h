// SPDX-License-Identifier: Apache-2.0
// LivePage: the page of live mode while there is no picture. Says how to start, and lists what was found on this
// computer and what is missing. A small window shows a part of it. GUI thread.
#pragma once

#include <QList>
#include <QWidget>

#include "gui/live/live_session.h"

class QAction;
class QGridLayout;
class QLabel;
class QPushButton;

namespace matte {

/// A line about a thing that was found, or is missing.
struct Fact {
    bool good = false;
    QString text;
    bool operator==(const Fact&) const = default;
};

class LivePage : public QWidget {
    Q_OBJECT

public:
    LivePage(QAction* start, QAction* openVideo, QWidget* parent);
    /// The buttons are shown only while the session is off. `name` is the source's.
    void showStage(LiveStage stage, const QString& name);
    void showFacts(const QList<Fact>& facts);
    /// Leaves the lowest `below` pixels free for a widget over the page.
    void keepClear(int below);
    /// All its text, for tests and screen readers.
    [[nodiscard]] QString text() const;

protected:
    void resizeEvent(QResizeEvent*) override { arrange(); }

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
