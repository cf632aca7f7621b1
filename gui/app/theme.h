// SPDX-License-Identifier: Apache-2.0
// Theme: the window's colours, dark or light, by the user's choice or the desktop's. GUI thread.
#pragma once

#include <QColor>
#include <QObject>

#include "gui/app/settings.h"

class QDBusVariant;

namespace matte {

/// The colours of the viewport.
struct CanvasColors {
    QColor surround, checkerLight, checkerDark;
};

class Theme : public QObject {
    Q_OBJECT

public:
    /// Asks the desktop (portal setting org.freedesktop.appearance color-scheme) and goes on listening; until it
    /// answers, and where there is no portal, the system palette decides.
    explicit Theme(QObject* parent = nullptr);

    /// Sets the application's style, palette and style sheet.
    void setChoice(ThemeChoice choice);
    [[nodiscard]] ThemeChoice choice() const { return choice_; }
    [[nodiscard]] bool isDark() const;
    [[nodiscard]] CanvasColors canvas() const;

Q_SIGNALS:
    void changed();

private Q_SLOTS:
    void portalSettingChanged(const QString& space, const QString& key, const QDBusVariant& value);

private:
    void apply();

    ThemeChoice choice_ = ThemeChoice::system;
    bool systemDark_ = false;
};

}  // namespace matte
