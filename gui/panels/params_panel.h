// SPDX-License-Identifier: Apache-2.0
// ParamsPanel: the controls of the CompositeParams. Changes the document only, and shows what the document says. GUI
// thread.
#pragma once

#include <QScrollArea>

#include <optional>

#include "gui/app/settings.h"
#include "gui/photo/document.h"

class QButtonGroup;
class QLabel;
class QStackedWidget;
class QVBoxLayout;

namespace matte {

class ColorRow;
class LiveGroup;
class PersonGroup;
class PictureWell;
class SliderRow;
class Toggle;

class ParamsPanel : public QScrollArea {
    Q_OBJECT

public:
    explicit ParamsPanel(Document& document, QAction* reset, QWidget* parent = nullptr);
    [[nodiscard]] SliderRow& blurStrength() { return *blurStrength_; }
    [[nodiscard]] SliderRow& position() { return *position_; }  ///< of the background picture
    [[nodiscard]] SliderRow& threshold() { return *threshold_; }
    [[nodiscard]] SliderRow& softness() { return *softness_; }
    [[nodiscard]] Toggle& decontaminate() { return *decontaminate_; }
    [[nodiscard]] PersonGroup& person() { return *person_; }
    [[nodiscard]] LiveGroup& live() { return *live_; }
    [[nodiscard]] QButtonGroup& kinds() { return *kinds_; }            ///< ids are Background::Kind
    [[nodiscard]] QButtonGroup& placements() { return *placements_; }  ///< ids are Placement

    /// Shows what makes sense live only, and says what holds there.
    void setMode(Mode mode);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

Q_SIGNALS:
    void pictureWanted();                      ///< a background picture is to be chosen
    void pictureDropped(const QString& path);  ///< or was dropped

private:
    void buildBackground(QVBoxLayout& column);
    void buildEdges(QVBoxLayout& column);
    QWidget* imagePage();
    void chooseKind(Background::Kind kind);
    [[nodiscard]] Background::Kind shownKind() const;
    void showParams(const CompositeParams& params);
    void showPage(int index);
    void fitPage();
    void fitWidth();
    void addSection(QVBoxLayout& column, const QString& title, QWidget* group);

    Document& document_;
    QButtonGroup* kinds_;
    QButtonGroup* placements_;
    QStackedWidget* pages_;
    QLabel* blurNote_;
    QLabel* transparencyNote_;
    SliderRow* blurStrength_;
    ColorRow* color_;
    PictureWell* picture_;
    SliderRow* position_;
    SliderRow* threshold_;
    SliderRow* softness_;
    Toggle* decontaminate_;
    PersonGroup* person_;
    LiveGroup* live_;
    QList<QWidget*> liveOnly_;
    /// The kind that stayed behind the person when a picture was asked for and there was none: until one is chosen, or
    /// another kind, the panel shows what there is to choose from.
    std::optional<Background::Kind> choosingOver_;
};

}  // namespace matte
