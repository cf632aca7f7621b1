// SPDX-License-Identifier: Apache-2.0
#include "gui/app/settings_file.h"

#include <QFile>
#include <QSettings>

#include <chrono>
#include <utility>

namespace matte {
namespace {

// A slider that is dragged is written at this pace, and not for each of its steps.
constexpr std::chrono::milliseconds kSoon{500};

}  // namespace

SettingsFile::SettingsFile(QSettings& store, std::function<Settings()> now, const Settings& read, QStringList damaged)
    : store_(store), now_(std::move(now)), damaged_(std::move(damaged)) {
    soon_.setSingleShot(true);
    soon_.setInterval(kSoon);
    connect(&soon_, &QTimer::timeout, this, &SettingsFile::write);
    if (damaged_.isEmpty()) {
        written_ = read;
        return;
    }
    QFile::remove(copyOfDamaged());
    hasCopy_ = QFile::copy(store_.fileName(), copyOfDamaged());
}

QString SettingsFile::copyOfDamaged() const {
    return store_.fileName() + ".damaged";
}

QString SettingsFile::damage() const {
    const QString names = damaged_.mid(0, 3).join(", ") + (damaged_.size() > 3 ? ", …" : "");
    const QString told =
        tr("A part of the settings was damaged (%1) and was put right or set back; the rest is kept.").arg(names);
    return hasCopy_ ? told + tr(" The file as it was is %1.").arg(copyOfDamaged()) : told;
}

void SettingsFile::note() {
    if (!soon_.isActive()) soon_.start();
}

void SettingsFile::write() {
    soon_.stop();
    Settings now = now_();
    if (now == written_) return;
    // The same file, with a status of its own: a QSettings never forgets what once went wrong.
    QSettings file(store_.fileName(), store_.format());
    now.save(file);
    file.sync();
    const bool fails = file.status() == QSettings::AccessError || !file.isWritable();
    if (!fails) written_ = std::move(now);
    if (std::exchange(hasFailed_, fails) || !fails) return;
    Q_EMIT failed(tr("The settings can't be written to %1, and what you change is forgotten: make the file and its "
                     "folder writable, or free some space.")
                      .arg(store_.fileName()));
}

}  // namespace matte
