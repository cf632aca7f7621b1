// SPDX-License-Identifier: Apache-2.0
// MethodRow: the timing overlay's row about the ladder: by which method the live network runs, a menu with the others,
// what the network takes and how far its alpha is from the product's; below it, why a slow method's input is smaller.
// GUI thread; never waits for the network.
#pragma once

#include <QTimer>
#include <QWidget>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "inference/baselines/live/method_switch.h"

class QLabel;
class QMenu;
class QToolButton;

namespace matte {

class MethodRow : public QWidget {
    Q_OBJECT

public:
    explicit MethodRow(std::shared_ptr<ladder::MethodSwitch> methods, QWidget* parent = nullptr);
    /// Looks again at what became of the choice.
    void refresh();
    [[nodiscard]] QMenu& menu() const { return *menu_; }
    [[nodiscard]] const QString& facts() const { return facts_; }
    /// Empty when there is nothing to note.
    [[nodiscard]] const QString& note() const { return note_; }
    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    /// The chosen method does not run, and the default goes on.
    void failed(const QString& sentence);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fill();
    void elide();

    std::shared_ptr<ladder::MethodSwitch> methods_;
    QToolButton* button_;
    QMenu* menu_;
    QLabel *label_, *noteLabel_;
    QTimer timer_;  ///< while the row is shown or a method is chosen
    QString facts_, note_, problem_;
    std::future<std::vector<std::string>> reasons_;  ///< why each method can't be used; looking for a GPU takes time
};

}  // namespace matte
