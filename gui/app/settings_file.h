// SPDX-License-Identifier: Apache-2.0
// SettingsFile: writes the settings soon after a change, so that neither a log-out nor a crash loses them. The file is
// replaced in one step. GUI thread.
#pragma once

#include <QObject>
#include <QTimer>

#include <functional>
#include <optional>

#include "gui/app/settings.h"

namespace matte {

class SettingsFile : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(SettingsFile)

public:
    /// `now` returns the settings to write, `read` are those in `store`. Where some of them were damaged, the file is
    /// copied first, and written anew.
    SettingsFile(QSettings& store, std::function<Settings()> now, const Settings& read, QStringList damaged);
    /// The settings may have changed: they are compared, and written, within half a second.
    void note();
    /// Writes changes at once.
    void write();
    /// What was damaged, and where the copy is: a sentence, or two.
    [[nodiscard]] QString damage() const;
    /// Whether the damaged file could be copied.
    [[nodiscard]] bool hasCopyOfDamaged() const { return hasCopy_; }

Q_SIGNALS:
    /// Emitted once, until writing succeeds again.
    void failed(const QString& sentence);

private:
    [[nodiscard]] QString copyOfDamaged() const;

    QSettings& store_;
    std::function<Settings()> now_;
    const QStringList damaged_;
    std::optional<Settings> written_;
    QTimer soon_;
    bool hasFailed_ = false, hasCopy_ = false;
};

}  // namespace matte
