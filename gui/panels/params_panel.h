// SPDX-License-Identifier: Apache-2.0
// ParamsPanel: the controls of the CompositeParams, and their keys. They change the document, and follow it. GUI
// thread.
#pragma once

#include <QScrollArea>

#include <map>
#include <optional>

#include "gui/app/settings.h"
#include "gui/photo/document.h"

class QButtonGroup;
class QLabel;
class QStackedWidget;
class QVBoxLayout;

namespace matte {

class Actions;
class ColorRow;
class PictureWell;
class SliderRow;
class Toggle;

class ParamsPanel : public QScrollArea {
    Q_OBJECT

public:
    explicit ParamsPanel(Document& document, const Actions& actions, QWidget* parent = nullptr);
    /// The control of a number.
    [[nodiscard]] SliderRow& slider(ParamControl control) { return *sliders_.at(control); }
    /// The control of what is on or off.
    [[nodiscard]] Toggle& toggle(ParamControl control) { return *toggles_.at(control); }
    [[nodiscard]] QButtonGroup& kinds() { return *kinds_; }            ///< ids are Background::Kind
    [[nodiscard]] QButtonGroup& placements() { return *placements_; }  ///< ids are Placement

    /// Shows the controls and notes of that mode.
    void setMode(Mode mode);
    /// Enables fine detail: EngineInfo::fineDetail of live mode's engine.
    void offerDetail(bool offered);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

Q_SIGNALS:
    void pictureWanted();                      ///< the user wants to choose a background picture
    void pictureDropped(const QString& path);  ///< the user dropped one, or chose it in the gallery

private:
    /// A parameter among the others.
    using Number = float& (*)(CompositeParams&);
    using Switch = bool& (*)(CompositeParams&);
    /// The values of a slider; each is so many `steps` of the parameter's unit.
    struct Bounds {
        int least = 0, most = 100;
        float steps = 100;
    };
    SliderRow* addSlider(ParamControl control, const QString& name, const QString& tip, Number number, Bounds bounds);
    Toggle* addToggle(ParamControl control, const QString& name, const QString& tip, Switch onOrOff);
    void buildBackground(QVBoxLayout& column);
    void buildEdges(QVBoxLayout& column);
    void buildLive(QVBoxLayout& column);
    void buildPerson(QVBoxLayout& column);
    void connectKeys(const Actions& actions);
    QWidget* imagePage();
    void chooseKind(Background::Kind kind);
    void showBackground(const Background& background);
    void fitPage();
    void fitWidth();

    Document& document_;
    QButtonGroup* kinds_;
    QButtonGroup* placements_;
    QStackedWidget* pages_;
    QLabel* blurNote_;
    QLabel* transparencyNote_;
    ColorRow* color_;
    PictureWell* picture_;
    std::map<ParamControl, SliderRow*> sliders_;
    std::map<ParamControl, Toggle*> toggles_;
    QList<QWidget*> liveOnly_;
    /// The present kind of background while the panel shows the pictures to choose from, because there is none yet.
    std::optional<Background::Kind> choosingOver_;
};

}  // namespace matte
