// SPDX-License-Identifier: Apache-2.0
#include "gui/panels/gallery.h"

#include <QCoreApplication>
#include <QDir>
#include <QGridLayout>
#include <QImageReader>
#include <QPainter>
#include <QPointer>
#include <QPushButton>
#include <QThreadPool>

#include "gui/app/icons.h"
#include "gui/app/qt_image.h"
#include "inference/core/error.h"
#include "inference/media/background_file.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

constexpr int kColumns = 4;
constexpr QSize kThumbnail{52, 38};

QStringList pictures() {
    try {
        const QDir folder(QString::fromStdString(dataFile("backgrounds").string()));
        QStringList paths;
        for (const QString& name : folder.entryList({"*.jpg", "*.webm"}, QDir::Files, QDir::Name)) {
            paths.append(folder.absoluteFilePath(name));
        }
        return paths;
    } catch (const Error&) {
        return {};  // without its data the program still works
    }
}

QString nameOf(const QString& path) {
    QString name = QFileInfo(path).completeBaseName();
    return name.replace(0, 1, name.left(1).toUpper());
}

bool isVideo(const QString& path) {
    return hasVideoExtension(path.toStdString());
}

QImage firstFrame(const QString& path, QSize size) {
    Background background;
    background.imagePath = path.toStdString();
    try {
        readBackground(background);
    } catch (const Error&) {
        return {};  // a click tells why
    }
    QImage picture = toQImage(background.image).scaled(size, Qt::KeepAspectRatioByExpanding, Qt::SmoothTransformation);
    QPainter painter(&picture);
    drawPlayMark(painter, QRectF(picture.rect()).center(), size.height() / 4.0);
    return picture;
}

QImage read(const QString& path, double ratio) {
    const QSize size = kThumbnail * ratio;
    QImage picture;
    if (isVideo(path)) {
        picture = firstFrame(path, size);
    } else {
        QImageReader reader(path);
        reader.setScaledSize(reader.size().scaled(size, Qt::KeepAspectRatioByExpanding));
        picture = reader.read();
    }
    picture.setDevicePixelRatio(ratio);
    return picture;
}

}  // namespace

Gallery::Gallery(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Backgrounds"));
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(6);
    const QStringList paths = pictures();
    for (int i = 0; i < paths.size(); ++i) {
        auto* button = new QPushButton;
        button->setObjectName("thumbnail");
        button->setIconSize(kThumbnail);
        button->setFixedSize(kThumbnail + QSize(6, 6));
        button->setAccessibleName(nameOf(paths[i]));
        button->setToolTip(isVideo(paths[i]) ? tr("%1, a video").arg(nameOf(paths[i])) : nameOf(paths[i]));
        connect(button, &QPushButton::clicked, this, [this, path = paths[i]] { Q_EMIT chosen(path); });
        grid->addWidget(button, i / kColumns, i % kColumns);
        QThreadPool::globalInstance()->start([self = QPointer(this), i, path = paths[i], ratio = devicePixelRatioF()] {
            const QImage picture = read(path, ratio);
            QMetaObject::invokeMethod(qApp, [self, i, picture] {
                if (self) self->showThumbnail(i, picture);
            });
        });
    }
    grid->setColumnStretch(kColumns, 1);
}

void Gallery::showThumbnail(int index, const QImage& picture) {
    auto* button = static_cast<QPushButton*>(layout()->itemAt(index)->widget());
    button->setIcon(QIcon(QPixmap::fromImage(picture)));
}

}  // namespace matte
