// SPDX-License-Identifier: Apache-2.0
// UniqueFileNames: names with the time in them for files that are written later, none of them there already nor given
// before. GUI thread.
#pragma once

#include <QSet>
#include <QStandardPaths>
#include <QString>

namespace matte {

class UniqueFileNames {
public:
    /// "STEM-2026-01-31-235959.SUFFIX" in `folder`; where there is no such folder, in the user's `usual` one or home.
    [[nodiscard]] QString name(const QString& folder,
                               QStandardPaths::StandardLocation usual,
                               const QString& stem,
                               const QString& suffix);

private:
    QSet<QString> given_;
};

}  // namespace matte
