// SPDX-License-Identifier: Apache-2.0
// The window's questions for files. Each starts in `folder` and leaves the chosen one there; empty when the user
// thought better of it. GUI thread.
#pragma once

#include <QString>

class QWidget;

namespace matte {

[[nodiscard]] QString askForPhoto(QWidget* parent, QString& folder);
[[nodiscard]] QString askForBackground(QWidget* parent, QString& folder);
[[nodiscard]] QString askForVideo(QWidget* parent, QString& folder);
[[nodiscard]] QString askForFolder(QWidget* parent, QString& folder);
/// An address that a video comes from.
[[nodiscard]] QString askForAddress(QWidget* parent);
[[nodiscard]] QString askForStatistics(QWidget* parent, QString& folder);
/// Which video is to get another background.
[[nodiscard]] QString askForVideoToExport(QWidget* parent, QString& folder);
/// Suggests a name after `video`'s; the extension decides about the form, and is added where it is missing.
[[nodiscard]] QString askForVideoExport(QWidget* parent, QString& folder, const QString& video, bool transparent);
/// Suggests a name beside `photoName`; the extension decides about the format, and is added where it is missing.
[[nodiscard]] QString askForExport(QWidget* parent, QString& folder, const QString& photoName, bool transparent);

}  // namespace matte
