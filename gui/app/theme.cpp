// SPDX-License-Identifier: Apache-2.0
#include "gui/app/theme.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QFile>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>

#include <algorithm>
#include <array>
#include <mutex>

namespace matte {
namespace {

constexpr char kPortal[] = "org.freedesktop.portal.Desktop", kPortalPath[] = "/org/freedesktop/portal/desktop";
constexpr char kPortalSettings[] = "org.freedesktop.portal.Settings";
constexpr char kAppearance[] = "org.freedesktop.appearance", kColorScheme[] = "color-scheme";

struct Token {
    const char* name;
    const char* light;
    const char* dark;
};

// Text on its background reaches 4.5:1 in both columns, except `faint`, which marks what is disabled.
constexpr std::array kTokens{
    Token{"window", "#f4f5f7", "#1f2124"},       Token{"panel", "#fbfbfc", "#25272b"},
    Token{"canvas", "#e4e6ea", "#151618"},       Token{"raised", "#ffffff", "#303338"},
    Token{"sunken", "#eceef1", "#1b1d20"},       Token{"border", "#d6d9de", "#3c4047"},
    Token{"text", "#1c1e22", "#e9eaec"},         Token{"muted", "#5a606a", "#a4aab3"},
    Token{"faint", "#a3a8b0", "#686e77"},        Token{"hover", "#e8eaee", "#34373d"},
    Token{"pressed", "#dcdfe5", "#3e424a"},      Token{"selected", "#dfe4fb", "#333d66"},
    Token{"selectedText", "#1c1e22", "#ffffff"}, Token{"accent", "#3b5bdb", "#4263eb"},
    Token{"accentHover", "#3350c9", "#4f70f3"},  Token{"accentText", "#ffffff", "#ffffff"},
    Token{"fill", "#3b5bdb", "#748ffc"},         Token{"focus", "#3b5bdb", "#748ffc"},
    Token{"groove", "#d0d4db", "#474c54"},       Token{"knob", "#ffffff", "#eceef2"},
    Token{"knobBorder", "#aab0ba", "#15171a"},   Token{"knobFocus", "#dfe4fb", "#c9d3ff"},
    Token{"disabled", "#e2e5ea", "#2c2f34"},     Token{"danger", "#c92a2a", "#ff8787"},
};

QColor color(const char* name, bool dark) {
    const auto found = std::ranges::find_if(kTokens, [&](const Token& token) { return !qstrcmp(token.name, name); });
    return QColor(dark ? found->dark : found->light);
}

QString styleSheet(bool dark) {
    QFile file(":/style/matte.qss");
    QString sheet = file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    for (const Token& token : kTokens) sheet.replace(QString("@%1@").arg(token.name), dark ? token.dark : token.light);
    return sheet;
}

QPalette palette(bool dark) {
    const auto of = [dark](const char* name) { return color(name, dark); };
    QPalette palette(of("text"), of("raised"), of("raised"), of("border"), of("border"), of("text"), of("text"),
                     of("sunken"), of("window"));
    palette.setColor(QPalette::Highlight, of("accent"));
    palette.setColor(QPalette::HighlightedText, of("accentText"));
    palette.setColor(QPalette::PlaceholderText, of("muted"));
    palette.setColor(QPalette::ToolTipBase, of("raised"));
    palette.setColor(QPalette::ToolTipText, of("text"));
    palette.setColor(QPalette::Link, of("fill"));
    palette.setColor(QPalette::Mid, of("muted"));
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, of("faint"));
    }
    return palette;
}

/// Fusion, but a click on a slider's groove goes there instead of a page towards it, and dialogs' buttons are plain.
class Style : public QProxyStyle {
public:
    Style() : QProxyStyle(QStyleFactory::create("Fusion")) {}
    int styleHint(StyleHint hint,
                  const QStyleOption* option,
                  const QWidget* widget,
                  QStyleHintReturn* data) const override {
        if (hint == SH_Slider_AbsoluteSetButtons) return Qt::LeftButton;
        if (hint == SH_DialogButtonBox_ButtonsHaveIcons) return 0;
        return QProxyStyle::styleHint(hint, option, widget, data);
    }
    /// Fusion's own mark lies outside what a style sheet leaves of a menu's line.
    void drawPrimitive(PrimitiveElement element,
                       const QStyleOption* option,
                       QPainter* painter,
                       const QWidget* widget) const override {
        if (element != PE_IndicatorMenuCheckMark) {
            return QProxyStyle::drawPrimitive(element, option, painter, widget);
        }
        const QRectF box = option->rect;
        const auto at = [&](double x, double y) { return box.topLeft() + QPointF(x * box.width(), y * box.height()); };
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(
            QPen(option->palette.color(QPalette::ButtonText), 1.75, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter->drawPolyline(QPolygonF{{at(0.15, 0.53), at(0.40, 0.77), at(0.87, 0.25)}});
        painter->restore();
    }
};

}  // namespace

Theme::Theme(QObject* parent) : QObject(parent) {
    const QPalette system = QGuiApplication::palette();
    systemDark_ = system.color(QPalette::Window).lightness() < system.color(QPalette::WindowText).lightness();
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return;
    bus.connect(kPortal, kPortalPath, kPortalSettings, "SettingChanged", this,
                SLOT(portalSettingChanged(QString, QString, QDBusVariant)));
    auto call = QDBusMessage::createMethodCall(kPortal, kPortalPath, kPortalSettings, "Read");
    call << QString(kAppearance) << QString(kColorScheme);
    auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        const QDBusPendingReply<QDBusVariant> reply = *watcher;
        // Read() wraps its answer twice.
        if (reply.isValid())
            portalSettingChanged(kAppearance, kColorScheme, qvariant_cast<QDBusVariant>(reply.value().variant()));
        watcher->deleteLater();
    });
}

void Theme::portalSettingChanged(const QString& space, const QString& key, const QDBusVariant& value) {
    if (space != kAppearance || key != kColorScheme) return;
    const uint scheme = value.variant().toUInt();  // 0 no preference, 1 dark, 2 light
    if ((scheme != 1 && scheme != 2) || systemDark_ == (scheme == 1)) return;
    systemDark_ = scheme == 1;
    if (choice_ == ThemeChoice::system) apply();
}

void Theme::setChoice(ThemeChoice choice) {
    choice_ = choice;
    apply();
}

bool Theme::isDark() const {
    return choice_ == ThemeChoice::system ? systemDark_ : choice_ == ThemeChoice::dark;
}

CanvasColors Theme::canvas() const {
    const bool dark = isDark();
    // Dim in the dark, so that it does not outshine the person, yet light enough to judge dark hair by.
    return {color("canvas", dark), QColor(dark ? "#8a8d92" : "#ffffff"), QColor(dark ? "#74777c" : "#e3e5e8")};
}

void Theme::apply() {
    static std::once_flag once;
    std::call_once(once, [] { QApplication::setStyle(new Style); });
    QApplication::setPalette(palette(isDark()));
    qApp->setStyleSheet(styleSheet(isDark()));
    Q_EMIT changed();
}

}  // namespace matte
