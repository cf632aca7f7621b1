// SPDX-License-Identifier: Apache-2.0
// Gallery: thumbnails of the backgrounds that come with the program, as buttons. They are read on other threads. GUI
// thread.
#pragma once

#include <QWidget>

namespace matte {

class Gallery : public QWidget {
    Q_OBJECT

public:
    explicit Gallery(QWidget* parent = nullptr);

Q_SIGNALS:
    void chosen(const QString& path);

private:
    void showThumbnail(int index, const QImage& picture);
};

}  // namespace matte
