// SPDX-License-Identifier: Apache-2.0
#include "gui/app/unique_file_name.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

namespace matte {

QString UniqueFileNames::name(const QString& folder,
                              QStandardPaths::StandardLocation usual,
                              const QString& stem,
                              const QString& suffix) {
    const QString other = QStandardPaths::writableLocation(usual);
    const QDir target(QFileInfo(folder).isDir() ? folder : QFileInfo(other).isDir() ? other : QDir::homePath());
    const QString first = stem + "-" + QDateTime::currentDateTime().toString("yyyy-MM-dd-hhmmss");
    QString path = target.filePath(first + "." + suffix);
    for (int next = 2; given_.contains(path) || QFileInfo::exists(path); ++next)
        path = target.filePath(QString("%1-%2.%3").arg(first).arg(next).arg(suffix));
    given_.insert(path);
    return path;
}

}  // namespace matte
