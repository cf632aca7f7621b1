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
#include "gui/panels/live_group.h"
#include "gui/panels/person_group.h"
#include "gui/panels/picture_well.h"
#include "gui/widgets/color_row.h"
#include "gui/widgets/slider_row.h"
#include "gui/widgets/toggle.h"

namespace matte {
namespace {

constexpr int kWidth = 288, kMargin = 18;
constexpr int kBorder = 1;  // the style's

int percent(float value) {
    return int(std::lround(value * 100));
}

QLabel* sectionTitle(const QString& text) {
    auto* label = new QLabel(text);
    label->setObjectName("sectionTitle");
    return label;
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

ParamsPanel::ParamsPanel(Document& document, QAction* reset, QWidget* parent)
    : QScrollArea(parent),
      document_(document),
      kinds_(new QButtonGroup(this)),
      placements_(new QButtonGroup(this)),
      person_(new PersonGroup(document)),
      live_(new LiveGroup(document)) {
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
    auto* rule = new QFrame;
    rule->setObjectName("rule");
    column->addWidget(rule);
    column->addSpacing(4);
    buildEdges(*column);
    addSection(*column, tr("Live"), live_);
    addSection(*column, tr("Person"), person_);
    setMode(Mode::photo);
    column->addStretch();
    auto* resetButton = new QPushButton(reset->icon(), tr("Reset"));
    resetButton->setObjectName("flat");
    resetButton->setToolTip(reset->toolTip());
    resetButton->setAccessibleName(reset->whatsThis());
    connect(resetButton, &QPushButton::clicked, reset, &QAction::trigger);
    column->addWidget(resetButton, 0, Qt::AlignLeft);
    setWidget(body);
    connect(&document_, &Document::paramsChanged, this, &ParamsPanel::showParams);
    showParams(document_.params());
}

void ParamsPanel::addSection(QVBoxLayout& column, const QString& title, QWidget* group) {
    auto* rule = new QFrame;
    rule->setObjectName("rule");
    auto* name = sectionTitle(title);
    column.addWidget(rule);
    column.addSpacing(4);
    column.addWidget(name);
    column.addWidget(group);
    if (group == live_) liveOnly_ = {rule, name, group};
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

    blurStrength_ = new SliderRow(tr("Strength"), tr("How far the background is blurred"),
                                  {1, 100, int(CompositeParams{}.background.blurStrength)});
    connect(blurStrength_, &SliderRow::valueChanged, this, [this](int value) {
        document_.edit(ParamControl::blurStrength,
                       [&](CompositeParams& params) { params.background.blurStrength = float(value); });
    });
    connect(blurStrength_, &SliderRow::gestureFinished, &document_, &Document::finishGesture);

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
    pages_->addWidget(page({blurStrength_, blurNote_}));
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
        document_.edit(ParamControl::placement,
                       [&](CompositeParams& params) { params.background.placement = Placement(id); });
        document_.finishGesture();
    });
    position_ = new SliderRow(tr("Position"),
                              tr("Which part of a picture is seen that is wider or taller than the frame, from its "
                                 "left or upper end to the other; or between which bars it lies"),
                              {0, 100, percent(CompositeParams{}.background.position)});
    connect(position_, &SliderRow::valueChanged, this, [this](int value) {
        document_.edit(ParamControl::picturePosition,
                       [&](CompositeParams& params) { params.background.position = float(value) / 100; });
    });
    connect(position_, &SliderRow::gestureFinished, &document_, &Document::finishGesture);
    auto* gallery = new Gallery;
    connect(gallery, &Gallery::chosen, this, &ParamsPanel::pictureDropped);
    return page({picture_, gallery, segmentBar(*placements_, tr("Placement")), position_});
}

void ParamsPanel::buildEdges(QVBoxLayout& column) {
    threshold_ = new SliderRow(tr("Threshold"), tr("Lower keeps more of the person, higher cuts closer"),
                               {0, 100, percent(CompositeParams{}.threshold)});
    softness_ = new SliderRow(tr("Softness"), tr("100 leaves the edge as it was found, 0 makes it hard"),
                              {0, 100, percent(CompositeParams{}.softness)});
    decontaminate_ = new Toggle(tr("Clean edge colours"));
    decontaminate_->setToolTip(tr("Remove the old background's colour from hair and edges"));
    connect(threshold_, &SliderRow::valueChanged, this, [this](int value) {
        document_.edit(ParamControl::threshold,
                       [&](CompositeParams& params) { params.threshold = float(value) / 100; });
    });
    connect(softness_, &SliderRow::valueChanged, this, [this](int value) {
        document_.edit(ParamControl::softness, [&](CompositeParams& params) { params.softness = float(value) / 100; });
    });
    connect(decontaminate_, &Toggle::toggled, this, [this](bool on) {
        document_.edit(ParamControl::decontaminate, [&](CompositeParams& params) { params.decontaminate = on; });
        document_.finishGesture();
    });
    for (SliderRow* row : {threshold_, softness_}) {
        connect(row, &SliderRow::gestureFinished, &document_, &Document::finishGesture);
    }
    column.addWidget(sectionTitle(tr("Edges")));
    column.addWidget(threshold_);
    column.addWidget(softness_);
    column.addWidget(decontaminate_);
}

void ParamsPanel::chooseKind(Background::Kind kind) {
    const Background& present = document_.params().background;
    const bool toChoose = kind == Background::Kind::image && !present.image;
    choosingOver_ = toChoose ? std::optional(present.kind) : std::nullopt;
    if (!toChoose) {
        document_.edit(ParamControl::background, [&](CompositeParams& params) { params.background.kind = kind; });
        document_.finishGesture();
    }
    showParams(document_.params());
}

Background::Kind ParamsPanel::shownKind() const {
    const Background::Kind kind = document_.params().background.kind;
    return choosingOver_ == kind ? Background::Kind::image : kind;
}

void ParamsPanel::showPage(int index) {
    pages_->setCurrentIndex(index);
    fitPage();
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

void ParamsPanel::showParams(const CompositeParams& params) {
    const Background& background = params.background;
    const Background::Kind kind = shownKind();
    if (background.kind == kind) choosingOver_.reset();
    kinds_->button(int(kind))->setChecked(true);
    showPage(int(kind) - int(Background::Kind::blur));
    blurStrength_->showValue(int(std::lround(background.blurStrength)));
    color_->showColor(QColor(background.color.r, background.color.g, background.color.b));
    const QString name = QFileInfo(QString::fromStdString(background.imagePath)).fileName();
    picture_->setPicture(background.image, name, background.moving);
    placements_->button(int(background.placement))->setChecked(true);
    position_->showValue(percent(background.position));
    position_->setEnabled(background.placement != Placement::stretch);
    threshold_->showValue(percent(params.threshold));
    softness_->showValue(percent(params.softness));
    const QSignalBlocker quiet(decontaminate_);
    decontaminate_->setChecked(params.decontaminate);
}

}  // namespace matte
