// SPDX-License-Identifier: Apache-2.0
#include "gui/app/file_dialogs.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMessageBox>
#include <QStandardPaths>

#include "inference/media/background_file.h"
#include "inference/media/image/image_file.h"

namespace matte {
namespace {

constexpr char kPictures[] = "*.jpg *.jpeg *.png *.webp *.tif *.tiff *.bmp";
constexpr char kVideos[] = "*.mp4 *.mov *.mkv *.webm *.avi *.m4v *.mpg *.mpeg *.ts *.gif *.ogv *.wmv";

QString text(const char* source) {
    return QCoreApplication::translate("matte::FileDialogs", source);
}

QString folderOrPictures(const QString& folder) {
    if (!folder.isEmpty() && QFileInfo(folder).isDir()) return folder;
    const QString pictures = QStandardPaths::writableLocation(QStandardPaths::PicturesLocation);
    return QFileInfo(pictures).isDir() ? pictures : QDir::homePath();
}

QString askForFile(QWidget* parent, const QString& title, const QString& filter, QString& folder) {
    const QString filters = filter + ";;" + text("All files (*)");
    QString path = QFileDialog::getOpenFileName(parent, title, folderOrPictures(folder), filters);
    if (!path.isEmpty()) folder = QFileInfo(path).absolutePath();
    return path;
}

/// Where to write to. Where `isComplete` says that the name lacks its extension, the chosen filter's first is added.
template <typename IsComplete>
QString askForTarget(QWidget* parent,
                     const QString& title,
                     const QString& suggestion,
                     const QStringList& filters,
                     QString& folder,
                     IsComplete isComplete) {
    QString filter = filters.first(), start = QDir(folderOrPictures(folder)).filePath(suggestion);
    for (;;) {
        QString path = QFileDialog::getSaveFileName(parent, title, start, filters.join(";;"), &filter);
        if (path.isEmpty()) return path;
        folder = QFileInfo(path).absolutePath();
        if (isComplete(path)) return path;
        start = path;
        path += "." + filter.section("*.", 1, 1).section(QChar(')'), 0, 0).section(' ', 0, 0);
        // The dialog asked about the name that was typed, not about this one.
        const QString question = text("%1 is there already. Replace it?").arg(QFileInfo(path).fileName());
        if (!QFileInfo::exists(path) ||
            QMessageBox::question(parent, title, question, QMessageBox::Yes | QMessageBox::No, QMessageBox::No) ==
                QMessageBox::Yes) {
            return path;
        }
    }
}

}  // namespace

QString askForPhoto(QWidget* parent, QString& folder) {
    return askForFile(parent, text("Open a Photo"), text("Pictures (%1)").arg(kPictures), folder);
}

QString askForBackground(QWidget* parent, QString& folder) {
    const QString both = text("Pictures and videos (%1 %2)").arg(kPictures, kVideos);
    return askForFile(parent, text("Choose a Background"), both, folder);
}

QString askForVideo(QWidget* parent, QString& folder) {
    return askForFile(parent, text("Use a Video"), text("Videos (%1)").arg(kVideos), folder);
}

QString askForFolder(QWidget* parent, QString& folder) {
    QString path =
        QFileDialog::getExistingDirectory(parent, text("Use a Folder of Pictures"), folderOrPictures(folder));
    if (!path.isEmpty()) folder = path;
    return path;
}

QString askForStatistics(QWidget* parent, QString& folder) {
    return askForTarget(parent, text("Save the Statistics"), "matte-statistics", {"JSON (*.json)", "CSV (*.csv)"},
                        folder, [](const QString& path) { return !QFileInfo(path).suffix().isEmpty(); });
}

QString askForAddress(QWidget* parent) {
    return QInputDialog::getText(parent, text("Use an Address"), text("Address, such as rtsp://camera.local/stream:"))
        .trimmed();
}

QString askForVideoToExport(QWidget* parent, QString& folder) {
    return askForFile(parent, text("Export a Video: Which One?"), text("Videos (%1)").arg(kVideos), folder);
}

QString askForVideoExport(QWidget* parent, QString& folder, const QString& video, bool transparent) {
    const QString mp4 = "MP4 (*.mp4)", mov = "QuickTime (*.mov)", webm = "WebM (*.webm)", mkv = "Matroska (*.mkv)";
    const QStringList filters = transparent ? QStringList{webm, mov} : QStringList{mp4, mov, webm, mkv};
    const QString suggestion = QFileInfo(video).completeBaseName() + (transparent ? "-matte.webm" : "-matte.mp4");
    return askForTarget(parent, text("Export the Video"), suggestion, filters, folder,
                        [](const QString& path) { return hasVideoExtension(path.toStdString()); });
}

QString askForExport(QWidget* parent, QString& folder, const QString& photoName, bool transparent) {
    const QString png = "PNG (*.png)", jpeg = "JPEG (*.jpg *.jpeg)", webp = "WebP (*.webp)",
                  tiff = "TIFF (*.tif *.tiff)";
    const QStringList filters = transparent ? QStringList{png, webp, tiff, jpeg} : QStringList{png, jpeg, webp, tiff};
    const QString suggestion = QFileInfo(photoName).completeBaseName() + "-matte.png";
    return askForTarget(parent, text("Export the Picture"), suggestion, filters, folder,
                        [](const QString& path) { return hasImageExtension(path.toStdString()); });
}

}  // namespace matte
