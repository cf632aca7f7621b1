// SPDX-License-Identifier: Apache-2.0
// Writing a file without holding up the window. GUI thread.
#pragma once

#include <utility>

#include <QCoreApplication>
#include <QPointer>
#include <QString>
#include <QThreadPool>

#include "inference/core/thread.h"

namespace matte {

/// Runs `write` on another thread; then `self`, if it is still there, emits saved(path), or failed() with what `write`
/// threw.
template <typename Self, typename Write>
void saveInBackground(Self* self, const QString& path, Write write) {
    QThreadPool::globalInstance()->start([self = QPointer(self), path, write = std::move(write)] {
        const auto tell = [&](const QString& problem) {
            QMetaObject::invokeMethod(qApp, [self, path, problem] {
                if (!self) return;
                if (problem.isEmpty()) {
                    Q_EMIT self->saved(path);
                } else {
                    Q_EMIT self->failed(problem);
                }
            });
        };
        guarded(
            [&] {
                write();
                tell({});
            },
            [&](const char* sentence, ErrorCategory) { tell(sentence); });
    });
}

}  // namespace matte
