// SPDX-License-Identifier: Apache-2.0
// Profiles: parameters and sources under a name, in the order of their keys. Changes the list only; the window applies
// what is chosen. GUI thread.
#pragma once

#include <QObject>

#include "gui/app/settings.h"

class QWidget;

namespace matte {

class Profiles : public QObject {
    Q_OBJECT

public:
    explicit Profiles(QList<Profile>& list, QObject* parent = nullptr) : QObject(parent), list_(list) {}
    /// Keeps it under its name, in place of another of that name. False when there are as many as there are keys.
    bool keep(const Profile& profile);
    void forget(const QString& name);
    /// Asks for a name; empty when the user thought better of it.
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
