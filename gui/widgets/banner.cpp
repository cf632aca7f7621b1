// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/banner.h"

#include <QAccessible>
#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QUrl>

#include <chrono>

#include "gui/app/icons.h"

namespace matte {
namespace {

constexpr std::chrono::seconds kDoneShownFor{6};
constexpr int kIconSide = 18;

}  // namespace

Banner::Banner(QWidget* parent) : QFrame(parent), icon_(new QLabel), label_(new QLabel), folder_(new QPushButton) {
    setObjectName("banner");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 8, 8, 8);
    row->setSpacing(10);
    label_->setWordWrap(true);
    label_->setTextFormat(Qt::PlainText);
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    folder_->setText(tr("Show in Folder"));
    folder_->setObjectName("flat");
    auto* close = new QToolButton;
    close->setIcon(glyph("close"));
    close->setAccessibleName(tr("Close the message"));
    close->setToolTip(tr("Close (Esc)"));
    row->addWidget(icon_);
    row->addWidget(label_, 1);
    row->addWidget(folder_);
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, &Banner::acknowledge);
    connect(folder_, &QPushButton::clicked, this,
            [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(file_).absolutePath())); });
    hideLater_.setSingleShot(true);
    connect(&hideLater_, &QTimer::timeout, this, &Banner::dismiss);
    hide();
}

void Banner::showError(const QString& sentence) {
    hideLater_.stop();
    showText(sentence, true, {});
}

void Banner::showDone(const QString& sentence, const QString& file) {
    showText(sentence, false, file);
    hideLater_.start(kDoneShownFor);
}

void Banner::showResult(const QString& sentence, const QString& file) {
    hideLater_.stop();
    showText(sentence, false, file);
}

void Banner::showUntilClosed(const QString& sentence) {
    untilClosed_ = sentence;
    showError(sentence);
}

void Banner::showText(const QString& sentence, bool error, const QString& file) {
    error_ = error;
    file_ = file;
    label_->setText(sentence);
    folder_->setVisible(!file.isEmpty());
    icon_->setPixmap(glyph(error ? "warning" : "check").pixmap(QSize(kIconSide, kIconSide), devicePixelRatioF()));
    setProperty("kind", error ? "error" : "done");
    style()->unpolish(this);  // the style sheet reads `kind`
    style()->polish(this);
    setAccessibleName(sentence);
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
    show();
    raise();
    Q_EMIT resized();
}

void Banner::dismiss() {
    hideLater_.stop();
    if (isHidden() || (!untilClosed_.isEmpty() && text() == untilClosed_)) return;
    hide();
    Q_EMIT closed();
    if (isHidden() && !untilClosed_.isEmpty()) showError(untilClosed_);
}

void Banner::acknowledge() {
    if (text() == untilClosed_) untilClosed_.clear();
    dismiss();
}

QString Banner::text() const {
    return label_->text();
}

}  // namespace matte
