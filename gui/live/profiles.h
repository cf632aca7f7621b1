// SPDX-License-Identifier: Apache-2.0
// Profiles: the list of named parameters and sources, in the order of their keys. The window applies them. GUI thread.
#pragma once

#include <QObject>

#include "gui/app/settings.h"

class QWidget;

namespace matte {

class Profiles : public QObject {
    Q_OBJECT

public:
    explicit Profiles(QList<Profile>& list, QObject* parent = nullptr) : QObject(parent), list_(list) {}
    /// Adds a profile, or replaces the one with its name. Returns false when there is no key left.
    bool keep(const Profile& profile);
    void forget(const QString& name);
    /// Returns an empty name when the user cancels.
    [[nodiscard]] QString askForName(QWidget* parent) const;
    [[nodiscard]] QString askWhichToForget(QWidget* parent) const;

Q_SIGNALS:
    void changed(const QList<matte::Profile>& list);

private:
    [[nodiscard]] bool isTaken(const QString& name) const;
    [[nodiscard]] QString freeName() const;

    QList<Profile>& list_;
};

}  // namespace matte
