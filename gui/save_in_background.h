// SPDX-License-Identifier: Apache-2.0
// Writing a file without holding up the window. GUI thread.
#pragma once

#include <exception>
#include <utility>

#include <QCoreApplication>
#include <QPointer>
#include <QString>
#include <QThreadPool>

namespace matte {

/// Runs `write` on another thread; then `self`, if it is still there, emits saved(path), or failed() with what `write`
/// threw.
template <typename Self, typename Write>
void saveInBackground(Self* self, const QString& path, Write write) {
    QThreadPool::globalInstance()->start([self = QPointer(self), path, write = std::move(write)] {
        QString problem;
        try {
            write();
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error.what());
        }
        QMetaObject::invokeMethod(qApp, [self, path, problem] {
            if (!self) return;
            if (problem.isEmpty()) {
                Q_EMIT self->saved(path);
            } else {
                Q_EMIT self->failed(problem);
            }
        });
    });
}

}  // namespace matte
