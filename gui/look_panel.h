// SPDX-License-Identifier: Apache-2.0
// LookPanel: the controls of the Look. Changes the document only, and shows what the document says. GUI thread.
#pragma once

#include <QScrollArea>

#include "gui/document.h"

class QButtonGroup;
class QStackedWidget;
class QVBoxLayout;

namespace matte {

class ColorRow;
class PictureWell;
class SliderRow;
class Toggle;

class LookPanel : public QScrollArea {
    Q_OBJECT

public:
    explicit LookPanel(Document& document, QAction* reset, QWidget* parent = nullptr);
    [[nodiscard]] SliderRow& blurStrength() { return *blurStrength_; }
    [[nodiscard]] SliderRow& threshold() { return *threshold_; }
    [[nodiscard]] SliderRow& softness() { return *softness_; }
    [[nodiscard]] Toggle& decontaminate() { return *decontaminate_; }
    [[nodiscard]] QButtonGroup& kinds() { return *kinds_; }  ///< ids are Background::Kind

signals:
    void pictureWanted();                      ///< a background picture is to be chosen
    void pictureDropped(const QString& path);  ///< or was dropped

private:
    void buildBackground(QVBoxLayout& column);
    void buildEdges(QVBoxLayout& column);
    QWidget* imagePage();
    void chooseKind(Background::Kind kind);
    void showLook(const Look& look);
    void showPage(int index);
    template <typename Change>
    void edit(LookControl control, Change change);

    Document& document_;
    QButtonGroup* kinds_;
    QButtonGroup* placements_;
    QStackedWidget* pages_;
    SliderRow* blurStrength_;
    ColorRow* color_;
    PictureWell* picture_;
    SliderRow* threshold_;
    SliderRow* softness_;
    Toggle* decontaminate_;
};

}  // namespace matte
