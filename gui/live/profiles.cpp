// SPDX-License-Identifier: Apache-2.0
#include "gui/live/profiles.h"

#include <QInputDialog>
#include <QMessageBox>

#include <algorithm>

namespace matte {

bool Profiles::keep(const Profile& profile) {
    const auto same = std::ranges::find(list_, profile.name, &Profile::name);
    if (same != list_.end()) {
        *same = profile;
    } else if (list_.size() >= LiveSettings::kMaxProfiles) {
        return false;
    } else {
        list_.append(profile);
    }
    Q_EMIT changed(list_);
    return true;
}

void Profiles::forget(const QString& name) {
    list_.removeIf([&](const Profile& profile) { return profile.name == name; });
    Q_EMIT changed(list_);
}

QString Profiles::askForName(QWidget* parent) const {
    const QString title = tr("Save as Profile");
    QString name = freeName();
    for (;;) {
        name = QInputDialog::getText(parent, title, tr("Name:"), QLineEdit::Normal, name).trimmed();
        if (name.isEmpty() || !isTaken(name)) return name;
        const auto answer = QMessageBox::question(parent, title, tr("There is a profile “%1”. Replace it?").arg(name),
                                                  QMessageBox::Yes | QMessageBox::No, QMessageBox::No);
        if (answer == QMessageBox::Yes) return name;
    }
}

bool Profiles::isTaken(const QString& name) const {
    return std::ranges::find(list_, name, &Profile::name) != list_.end();
}

QString Profiles::freeName() const {
    for (int number = 1;; ++number) {
        QString name = tr("Profile %1").arg(number);
        if (!isTaken(name)) return name;
    }
}

QString Profiles::askWhichToForget(QWidget* parent) const {
    QStringList names;
    for (const Profile& profile : list_) names.append(profile.name);
    if (names.isEmpty()) return {};
    bool chosen = false;
    const QString name =
        QInputDialog::getItem(parent, tr("Delete a Profile"), tr("Profile:"), names, 0, false, &chosen);
    return chosen ? name : QString();
}

}  // namespace matte
