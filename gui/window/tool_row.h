// SPDX-License-Identifier: Apache-2.0
// ToolRow: the tools of the window in one row. In a narrow window the tools first lose their text; then those of low
// rank move into a menu at the end of the row. GUI thread.
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
    /// Tools of a lower rank leave the row first; `always` stays.
    enum class Rank { rule = 1, convenience, shortcut, common, main, always };

    explicit ToolRow(QWidget* parent = nullptr);

    /// Adds a tool for `mode`, or for both. `entry` is its action in the menu. A button with text beside an icon of its
    /// own may lose the text; the one with the object name "primary" keeps it longest.
    void add(QToolButton* button, QAction* entry, Rank rank, std::optional<Mode> mode = {});
    void addRule();
    void addStretch();
    void setMode(Mode mode);

    /// The menu with the tools that have left the row, in their order.
    [[nodiscard]] QMenu& overflow() const { return *overflow_; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent*) override { arrange(); }

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
