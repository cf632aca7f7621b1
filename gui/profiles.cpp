// SPDX-License-Identifier: Apache-2.0
#include "gui/profiles.h"

#include <QInputDialog>

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
    return QInputDialog::getText(parent, tr("Save as Profile"), tr("Name:"), QLineEdit::Normal,
                                 tr("Profile %1").arg(list_.size() + 1))
        .trimmed();
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
