// SPDX-License-Identifier: Apache-2.0
#include "gui/live/source_picker.h"

#include <QMenu>

#include "gui/app/icons.h"
#include "gui/window/actions.h"

namespace matte {
namespace {

constexpr int kMostWidth = 190;  // of the name on the button
constexpr const char* kTests[] = {"test:person:640x480@30", "test:person:1280x720@30", "test:person:1920x1080@60",
                                  "test:person:1920x1080@max"};

QString rateText(double rate) {
    return SourcePicker::tr("%1 a second").arg(rate, 0, 'g', 4);
}

LiveSource cameraSource(const CameraInfo& camera) {
    LiveSource source;
    source.spec.name = camera.name;
    return source;
}

/// As the menu has it: a source may name its camera by its id, or just be the first one.
std::string nameIn(const std::vector<CameraInfo>& cameras, const std::string& name) {
    const CameraInfo* camera = findCamera(cameras, name);
    return camera ? camera->name : name;
}

}  // namespace

SourcePicker::SourcePicker(const Actions& actions, QWidget* parent)
    : QToolButton(parent), actions_(actions), menu_(new QMenu(this)) {
    setMenu(menu_);
    setPopupMode(QToolButton::InstantPopup);
    setIcon(glyph("camera"));
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setProperty("menuButton", true);
    setAccessibleName(tr("Source"));
    setFocusPolicy(Qt::TabFocus);
    connect(menu_, &QMenu::aboutToShow, this, &SourcePicker::fill);
    showSource(source_);
    fill();
}

void SourcePicker::setCameras(const std::vector<CameraInfo>& cameras) {
    cameras_ = cameras;
    fill();
}

void SourcePicker::showSource(const LiveSource& source) {
    source_ = source;
    setText(" " + fontMetrics().elidedText(nameOf(source), Qt::ElideMiddle, kMostWidth));
    setToolTip(tr("What is shown: %1, %2").arg(nameOf(source), formatOf(source)));
}

QAction* SourcePicker::add(QMenu& menu, const QString& text, const LiveSource& source) {
    LiveSource present = source_;
    if (present.isCamera() && source.isCamera()) present.spec.name = nameIn(cameras_, present.spec.name);

    QAction* action = menu.addAction(QString(text).replace("&", "&&"));
    action->setCheckable(true);
    action->setChecked(source == present);
    connect(action, &QAction::triggered, this, [this, source] { Q_EMIT chosen(source); });
    return action;
}

void SourcePicker::fill() {
    menu_->clear();  // not of the menus below it, one of which may be open
    for (QMenu* below : menu_->findChildren<QMenu*>(Qt::FindDirectChildrenOnly)) below->deleteLater();
    addCameras();
    menu_->addSeparator();
    menu_->addActions({actions_[ActionId::useVideo], actions_[ActionId::useFolder], actions_[ActionId::useAddress]});
    addDeveloper();
}

void SourcePicker::addCameras() {
    if (cameras_.empty()) menu_->addAction(tr("No camera was found"))->setEnabled(false);
    for (const CameraInfo& camera : cameras_) {
        const bool chosen = source_.isCamera() && findCamera(cameras_, source_.spec.name) == &camera;
        QAction* action = add(*menu_, QString::fromStdString(camera.name), cameraSource(camera));
        action->setChecked(chosen);
        if (chosen) addFormats(camera);
    }
}

void SourcePicker::addFormats(const CameraInfo& camera) {
    auto* formats = menu_->addMenu(tr("Format of This Camera"));
    formats->setEnabled(!camera.modes.empty());
    LiveSource source = cameraSource(camera);
    add(*formats, tr("Automatic"), source);
    formats->addSeparator();
    for (const CameraMode& mode : camera.modes) {
        if (!isReadable(mode.encoding)) continue;
        source.encoding = mode.encoding;
        source.size = mode.size;
        source.rate = 0;
        const QString name = QString("%1  %2 × %3")
                                 .arg(QString::fromStdString(nameOf(mode.encoding)))
                                 .arg(mode.size.width)
                                 .arg(mode.size.height);
        if (mode.rates.size() < 2) {
            add(*formats, mode.rates.empty() ? name : name + "  " + rateText(mode.rates.front()), source);
            continue;
        }
        auto* rates = formats->addMenu(name);
        add(*rates, tr("Highest rate"), source);
        for (const double rate : mode.rates) {
            source.rate = rate;
            add(*rates, rateText(rate), source);
        }
    }
}

void SourcePicker::addDeveloper() {
    auto* developer = menu_->addMenu(tr("For &Developers"));
    for (const char* test : kTests) {
        LiveSource source;
        source.spec = parseSource(test);
        const QString rate = source.spec.rate >= kUnthrottled ? tr("as fast as can be") : rateText(source.spec.rate);
        add(*developer,
            tr("Test person  %1 × %2  %3").arg(source.spec.size.width).arg(source.spec.size.height).arg(rate), source);
    }
}

}  // namespace matte
