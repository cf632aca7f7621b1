// SPDX-License-Identifier: Apache-2.0
// ImplementationRow: the menu of implementations of the live network, in the timing overlay, with the network's time
// and the difference of its alpha from the product's. A second line says why the input of a slow implementation is
// smaller. GUI thread; never waits for the network.
#pragma once

#include <QTimer>
#include <QWidget>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "inference/baselines/live/implementation_switch.h"

class QLabel;
class QToolButton;

namespace matte {

class ChoiceMenu;

class ImplementationRow : public QWidget {
    Q_OBJECT

public:
    explicit ImplementationRow(std::shared_ptr<baselines::ImplementationSwitch> implementations,
                               QWidget* parent = nullptr);
    /// Shows the present status.
    void refresh();
    [[nodiscard]] ChoiceMenu& menu() const { return *menu_; }
    [[nodiscard]] const QString& facts() const { return facts_; }
    /// Empty when there is nothing to note.
    [[nodiscard]] const QString& note() const { return note_; }
    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    /// The chosen implementation can't run, and the default is used.
    void failed(const QString& sentence);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent*) override { elide(); }

private:
    void fill();
    void elide();

    std::shared_ptr<baselines::ImplementationSwitch> implementations_;
    QToolButton* button_;
    ChoiceMenu* menu_;
    QLabel *label_, *noteLabel_;
    QTimer timer_;  ///< while the row is shown or an implementation is chosen
    QString facts_, note_, problem_;
    std::future<std::vector<std::string>>
        reasons_;  ///< why each implementation can't be used; looking for a GPU takes time
};

}  // namespace matte
