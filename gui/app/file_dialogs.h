// SPDX-License-Identifier: Apache-2.0
// The file dialogs of the window. Each starts in `folder`, and stores the chosen folder there. The result is empty when
// the user cancels. GUI thread.
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
/// The video that is to have another background.
[[nodiscard]] QString askForVideoToExport(QWidget* parent, QString& folder);
/// Suggests a name after `video`'s; the extension decides about the form, and is added where it is missing.
[[nodiscard]] QString askForVideoExport(QWidget* parent, QString& folder, const QString& video, bool transparent);
/// Suggests a name beside `photoName`; the extension decides about the format, and is added where it is missing.
[[nodiscard]] QString askForExport(QWidget* parent, QString& folder, const QString& photoName, bool transparent);

}  // namespace matte
