// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/params_panel.h"

#include <QAction>
#include <QButtonGroup>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "gui/app/icons.h"
#include "gui/panels/gallery.h"
#include "gui/panels/picture_well.h"
#include "gui/widgets/color_row.h"
#include "gui/widgets/slider_row.h"
#include "gui/widgets/toggle.h"
#include "gui/window/actions.h"

namespace matte {
namespace {

constexpr int kWidth = 288, kMargin = 18;
constexpr int kBorder = 1;  // the style's

QLabel* sectionTitle(const QString& text) {
    auto* label = new QLabel(text);
    label->setObjectName("sectionTitle");
    return label;
}

/// Below a rule. Returns all that was added.
QList<QWidget*> addSection(QVBoxLayout& column, const QString& title, const QList<QWidget*>& controls) {
    auto* rule = new QFrame;
    rule->setObjectName("rule");
    QLabel* name = sectionTitle(title);
    column.addWidget(rule);
    column.addSpacing(4);
    column.addWidget(name);
    for (QWidget* control : controls) column.addWidget(control);
    return QList<QWidget*>{rule, name} + controls;
}

QLabel* note() {
    auto* label = new QLabel;
    label->setObjectName("muted");
    label->setWordWrap(true);
    return label;
}

/// One of several buttons in a bar, of which one is down.
QToolButton* segment(const QString& text, const QString& tip, const QString& iconName = {}) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setCheckable(true);
    button->setFocusPolicy(Qt::TabFocus);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    if (!iconName.isEmpty()) {
        button->setIcon(glyph(iconName));
        button->setIconSize({20, 20});
        button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    }
    return button;
}

QWidget* segmentBar(const QButtonGroup& group, const QString& name) {
    auto* bar = new QWidget;
    bar->setObjectName("segments");
    bar->setAttribute(Qt::WA_StyledBackground);
    bar->setAccessibleName(name);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(1, 1, 1, 1);
    row->setSpacing(0);
    for (QAbstractButton* button : group.buttons()) row->addWidget(button);
    return bar;
}

QWidget* page(std::initializer_list<QWidget*> parts) {
    auto* widget = new QWidget;
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    for (QWidget* part : parts) column->addWidget(part);
    column->addStretch();
    return widget;
}

}  // namespace

ParamsPanel::ParamsPanel(Document& document, const Actions& actions, QWidget* parent)
    : QScrollArea(parent), document_(document), kinds_(new QButtonGroup(this)), placements_(new QButtonGroup(this)) {
    setObjectName("panel");
    setFrameShape(QFrame::NoFrame);
    setFixedWidth(kWidth);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* body = new QWidget;
    body->setObjectName("panelBody");
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    column->setSpacing(12);
    buildBackground(*column);
    buildEdges(*column);
    buildLive(*column);
    buildPerson(*column);
    setMode(Mode::photo);
    column->addStretch();
    QAction* reset = actions[ActionId::resetParams];
    auto* resetButton = new QPushButton(reset->icon(), tr("Reset"));
    resetButton->setObjectName("flat");
    resetButton->setToolTip(reset->toolTip());
    resetButton->setAccessibleName(reset->whatsThis());
    connect(resetButton, &QPushButton::clicked, reset, &QAction::trigger);
    column->addWidget(resetButton, 0, Qt::AlignLeft);
    setWidget(body);
    connect(&document_, &Document::paramsChanged, this,
            [this](const CompositeParams& params) { showBackground(params.background); });
    showBackground(document_.params().background);
    connectKeys(actions);
}

void ParamsPanel::connectKeys(const Actions& actions) {
    for (const auto& [id, control] :
         {std::pair(ActionId::mirror, ParamControl::mirror),
          std::pair(ActionId::smallRegions, ParamControl::smallRegions),
          std::pair(ActionId::nearest, ParamControl::nearest), std::pair(ActionId::detail, ParamControl::detail),
          std::pair(ActionId::cleanEdges, ParamControl::decontaminate)}) {
        connect(actions[id], &QAction::triggered, &toggle(control), &Toggle::toggle);
    }
    const auto turns = [&](ActionId id, ParamControl control, float CompositeParams::*strength, float whenOn) {
        connect(actions[id], &QAction::triggered, this, [this, control, strength, whenOn]() mutable {
            document_.step(control, [&](CompositeParams& params) {
                if (params.*strength > 0) whenOn = params.*strength;
                params.*strength = params.*strength > 0 ? 0 : whenOn;
            });
        });
    };
    turns(ActionId::temporalSmoothing, ParamControl::temporalSmoothing, &CompositeParams::temporalSmoothing,
          CompositeParams{}.temporalSmoothing);
    turns(ActionId::wrap, ParamControl::lightWrap, &CompositeParams::lightWrap, 0.5F);
    connect(actions[ActionId::resetTransform], &QAction::triggered, this, [this] {
        document_.step(ParamControl::position,
                       [](CompositeParams& params) { params.transform = {.mirrored = params.transform.mirrored}; });
    });
}

SliderRow* ParamsPanel::addSlider(
    ParamControl control, const QString& name, const QString& tip, Number number, Bounds bounds) {
    const auto shown = [number, bounds](CompositeParams params) {
        return int(std::lround(number(params) * bounds.steps));
    };
    auto* row = new SliderRow(name, tip, {bounds.least, bounds.most, shown({})});
    connect(row, &SliderRow::valueChanged, this, [this, control, number, bounds](int value) {
        document_.edit(control, [&](CompositeParams& params) { number(params) = float(value) / bounds.steps; });
    });
    connect(row, &SliderRow::gestureFinished, &document_, &Document::finishGesture);
    connect(&document_, &Document::paramsChanged, row,
            [row, shown](const CompositeParams& params) { row->showValue(shown(params)); });
    row->showValue(shown(document_.params()));
    return sliders_[control] = row;
}

Toggle* ParamsPanel::addToggle(ParamControl control, const QString& name, const QString& tip, Switch onOrOff) {
    auto* toggle = new Toggle(name);
    toggle->setToolTip(tip);
    const auto show = [toggle, onOrOff](CompositeParams params) {
        const QSignalBlocker quiet(toggle);
        toggle->setChecked(onOrOff(params));
    };
    connect(toggle, &Toggle::toggled, this, [this, control, onOrOff](bool on) {
        document_.step(control, [&](CompositeParams& params) { onOrOff(params) = on; });
    });
    connect(&document_, &Document::paramsChanged, toggle, show);
    show(document_.params());
    return toggles_[control] = toggle;
}

void ParamsPanel::setMode(Mode mode) {
    const bool isLive = mode == Mode::live;
    for (QWidget* part : liveOnly_) part->setVisible(isLive);
    blurNote_->setText(isLive ? tr("The blur follows the picture's size, so that it looks the same with every camera.")
                              : tr("The blur follows the photo's size, so that an export looks like what you see."));
    transparencyNote_->setText(
        isLive ? tr("Snapshots keep the transparency, and so do videos as WebM and MOV. Matte's camera shows black.")
               : tr("PNG, WebP and TIFF keep the transparency. A JPEG gets white instead."));
    fitPage();
}

void ParamsPanel::buildBackground(QVBoxLayout& column) {
    using Kind = Background::Kind;
    kinds_->addButton(segment(tr("Blur"), tr("Blur what is behind the person"), "blur"), int(Kind::blur));
    kinds_->addButton(segment(tr("Colour"), tr("One colour behind the person"), "color"), int(Kind::color));
    kinds_->addButton(segment(tr("Picture"), tr("A picture or a video behind the person"), "image"), int(Kind::image));
    kinds_->addButton(segment(tr("None"), tr("Nothing behind the person: transparent"), "transparent"),
                      int(Kind::transparent));
    connect(kinds_, &QButtonGroup::idClicked, this, [this](int id) { chooseKind(Kind(id)); });

    auto* blurStrength =
        addSlider(ParamControl::blurStrength, tr("Strength"), tr("How far the background is blurred"),
                  [](CompositeParams& params) -> float& { return params.background.blurStrength; }, {1, 100, 1});
    color_ = new ColorRow;
    connect(color_, &ColorRow::colorChanged, this, [this](const QColor& color) {
        document_.edit(ParamControl::color, [&](CompositeParams& params) {
            params.background.color = {std::uint8_t(color.red()), std::uint8_t(color.green()),
                                       std::uint8_t(color.blue())};
        });
    });
    connect(color_, &ColorRow::gestureFinished, &document_, &Document::finishGesture);

    pages_ = new QStackedWidget;
    blurNote_ = note();
    transparencyNote_ = note();
    pages_->addWidget(page({blurStrength, blurNote_}));
    pages_->addWidget(page({color_}));
    pages_->addWidget(imagePage());
    pages_->addWidget(page({transparencyNote_}));
    column.addWidget(sectionTitle(tr("Background")));
    column.addWidget(segmentBar(*kinds_, tr("Background")));
    column.addWidget(pages_);
}

QWidget* ParamsPanel::imagePage() {
    picture_ = new PictureWell;
    connect(picture_, &QAbstractButton::clicked, this, &ParamsPanel::pictureWanted);
    connect(picture_, &PictureWell::dropped, this, &ParamsPanel::pictureDropped);
    placements_->addButton(segment(tr("Fill"), tr("Cover the frame; what sticks out is cropped")),
                           int(Placement::fill));
    placements_->addButton(segment(tr("Fit"), tr("Show all of it; bars fill the rest")), int(Placement::fit));
    placements_->addButton(segment(tr("Stretch"), tr("Make it the frame's shape")), int(Placement::stretch));
    connect(placements_, &QButtonGroup::idClicked, this, [this](int id) {
        document_.step(ParamControl::placement,
                       [&](CompositeParams& params) { params.background.placement = Placement(id); });
    });
    auto* position = addSlider(
        ParamControl::picturePosition, tr("Position"),
        tr("Which part of a picture is seen that is wider or taller than the frame, from its left or upper end to the "
           "other; or between which bars it lies"),
        [](CompositeParams& params) -> float& { return params.background.position; }, {});
    auto* gallery = new Gallery;
    connect(gallery, &Gallery::chosen, this, &ParamsPanel::pictureDropped);
    return page({picture_, gallery, segmentBar(*placements_, tr("Placement")), position});
}

void ParamsPanel::buildEdges(QVBoxLayout& column) {
    addSection(
        column, tr("Edges"),
        {addSlider(ParamControl::threshold, tr("Threshold"), tr("Lower keeps more of the person, higher cuts closer"),
                   [](CompositeParams& params) -> float& { return params.threshold; }, {}),
         addSlider(ParamControl::softness, tr("Softness"), tr("100 leaves the edge as it was found, 0 makes it hard"),
                   [](CompositeParams& params) -> float& { return params.softness; }, {}),
         addToggle(ParamControl::decontaminate, tr("Clean edge colours"),
                   tr("Remove the old background's colour from hair and edges"),
                   [](CompositeParams& params) -> bool& { return params.decontaminate; })});
}

void ParamsPanel::buildLive(QVBoxLayout& column) {
    liveOnly_ = addSection(column, tr("Live"),
                           {addToggle(ParamControl::mirror, tr("Mirror"),
                                      tr("As in a mirror; writing in the background stays readable (M)"),
                                      [](CompositeParams& params) -> bool& { return params.transform.mirrored; }),
                            addSlider(ParamControl::temporalSmoothing, tr("Temporal smoothing"),
                                      tr("How calm the edge is; a moving hand leaves no trail"),
                                      [](CompositeParams& params) -> float& { return params.temporalSmoothing; }, {}),
                            addToggle(ParamControl::smallRegions, tr("Remove small regions"),
                                      tr("Take out what is much smaller than a person (K)"),
                                      [](CompositeParams& params) -> bool& { return params.removeSmallRegions; }),
                            addToggle(ParamControl::nearest, tr("Nearest person only"),
                                      tr("Of several people keep the one who takes the most room (N)"),
                                      [](CompositeParams& params) -> bool& { return params.nearestOnly; }),
                            addToggle(ParamControl::detail, tr("Fine detail"), {},
                                      [](CompositeParams& params) -> bool& { return params.fineDetail; })});
    offerDetail(true);
}

void ParamsPanel::buildPerson(QVBoxLayout& column) {
    addSection(
        column, tr("Person"),
        {addSlider(ParamControl::lightWrap, tr("Light wrap"),
                   tr("How much of the background's light falls on the edge"),
                   [](CompositeParams& params) -> float& { return params.lightWrap; }, {}),
         addSlider(ParamControl::scale, tr("Size, %"),
                   tr("How large the person is; Shift and the wheel over the picture"),
                   [](CompositeParams& params) -> float& { return params.transform.scale; }, {25, 400}),
         addSlider(ParamControl::across, tr("Across"),
                   tr("Move the person left or right; Shift and drag in the picture"),
                   [](CompositeParams& params) -> float& { return params.transform.x; }, {-100, 100}),
         addSlider(ParamControl::down, tr("Down"), tr("Move the person up or down; Shift and drag in the picture"),
                   [](CompositeParams& params) -> float& { return params.transform.y; }, {-100, 100})});
}

void ParamsPanel::offerDetail(bool offered) {
    Toggle& detail = toggle(ParamControl::detail);
    detail.setEnabled(offered);
    detail.setToolTip(offered ? tr("Fingers, hair and people farther away, for about four times the work (H)")
                              : tr("Not with this engine and model, whose live pictures have one size"));
}

void ParamsPanel::chooseKind(Background::Kind kind) {
    const Background& present = document_.params().background;
    const bool toChoose = kind == Background::Kind::image && !present.image;
    choosingOver_ = toChoose ? std::optional(present.kind) : std::nullopt;
    if (!toChoose) {
        document_.step(ParamControl::background, [&](CompositeParams& params) { params.background.kind = kind; });
    }
    showBackground(document_.params().background);
}

// As tall as this page alone, or the shorter ones would leave a gap.
void ParamsPanel::fitPage() {
    const QLayout* content = pages_->currentWidget()->layout();
    const int width = maximumWidth() - 2 * kBorder - 2 * kMargin;
    pages_->setFixedHeight(content->hasHeightForWidth() ? content->heightForWidth(width)
                                                        : content->sizeHint().height());
}

/// Wide enough for every control in large text, too: there is nothing to scroll sideways by.
void ParamsPanel::fitWidth() {
    const int needed = widget()->minimumSizeHint().width() + 2 * kBorder + verticalScrollBar()->sizeHint().width();
    const int wanted = std::max(kWidth, needed);
    if (wanted == maximumWidth()) return;
    setFixedWidth(wanted);
    fitPage();
}

bool ParamsPanel::eventFilter(QObject* object, QEvent* event) {
    if (object == widget() && event->type() == QEvent::LayoutRequest) fitWidth();
    return QScrollArea::eventFilter(object, event);
}

void ParamsPanel::showBackground(const Background& background) {
    if (choosingOver_ != background.kind) choosingOver_.reset();
    const Background::Kind kind = choosingOver_ ? Background::Kind::image : background.kind;
    kinds_->button(int(kind))->setChecked(true);
    pages_->setCurrentIndex(int(kind) - int(Background::Kind::blur));
    fitPage();
    color_->showColor(QColor(background.color.r, background.color.g, background.color.b));
    const QString name = QFileInfo(QString::fromStdString(background.imagePath)).fileName();
    picture_->setPicture(background.image, name, background.moving);
    placements_->button(int(background.placement))->setChecked(true);
    slider(ParamControl::picturePosition).setEnabled(background.placement != Placement::stretch);
}

}  // namespace matte
