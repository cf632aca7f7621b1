// SPDX-License-Identifier: Apache-2.0
// ToolRow: the window's tools in one row. In a narrow window it gives way: at first the tools lose their names, then
// those that are missed least go into a menu at its end, so that a mouse reaches each of them at any width. GUI thread.
#pragma once

#include <QWidget>

#include <optional>
#include <vector>

#include "gui/app/settings.h"

class QAction;
class QHBoxLayout;
class QMenu;
class QToolButton;

namespace matte {

class ToolRow : public QWidget {
    Q_OBJECT

public:
    /// Who leaves the row before whom; `always` stays.
    enum class Rank { rule = 1, convenience, shortcut, common, main, always };

    explicit ToolRow(QWidget* parent = nullptr);

    /// For `mode`, or for both; in the menu `entry` does what the button does. A button that shows a name beside an
    /// icon of its own can do without the name; the one that is called "primary" keeps it longest.
    void add(QToolButton* button, QAction* entry, Rank rank, std::optional<Mode> mode = {});
    void addRule();
    void addStretch();
    void setMode(Mode mode);

    /// With the tools that have left the row, in their order.
    [[nodiscard]] QMenu& overflow() const { return *overflow_; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum class Names { none = 1, primary, all };
    struct Tool {
        QWidget* widget;
        QToolButton* button;  ///< the same; null for a rule
        QAction* entry;
        Rank rank;
        std::optional<Mode> mode;
        bool canLoseName;
        int named = 0, unnamed = 0;  ///< how wide it is
        bool out = false;            ///< in the menu
    };

    [[nodiscard]] bool isInMode(const Tool& tool) const { return !tool.mode || *tool.mode == mode_; }
    [[nodiscard]] static bool isNamed(const Tool& tool, Names names);
    [[nodiscard]] int widthWith(Names names, bool everything) const;
    [[nodiscard]] Tool* nextToLeave();
    void measure();
    void arrange();

    QHBoxLayout* row_;
    QToolButton* more_;
    QMenu* overflow_;
    std::vector<Tool> tools_;
    Mode mode_ = Mode::photo;
    int moreWidth_ = 0;
    QString measured_;  ///< what the buttons said when they were measured
};

}  // namespace matte
