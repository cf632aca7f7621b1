// SPDX-License-Identifier: Apache-2.0
#include "gui/app/icons.h"

#include <QFile>
#include <QGuiApplication>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QRegularExpression>
#include <QXmlStreamReader>

namespace matte {
namespace {

constexpr double kViewBox = 24, kStrokeWidth = 1.75;

struct Shape {
    QPainterPath path;
    bool filled = false;
};

/// Path data with the absolute commands M, L, H, V, C and Z, which is all that our icons use.
QPainterPath parsePath(const QString& data) {
    static const QRegularExpression kToken(QStringLiteral("[A-Za-z]|-?[0-9.]+"));
    QPainterPath path;
    QString command;
    QList<double> numbers;
    for (auto tokens = kToken.globalMatch(data); tokens.hasNext();) {
        const QString token = tokens.next().captured();
        if (!token.at(0).isLetter()) {
            numbers.append(token.toDouble());
        } else {
            command = token;
            numbers.clear();
            if (command == "Z") path.closeSubpath();
        }
        const QPointF here = path.currentPosition();
        const auto have = [&](const char* name, qsizetype count) { return command == name && numbers.size() == count; };
        if (have("M", 2)) {
            path.moveTo(numbers[0], numbers[1]);
        } else if (have("L", 2)) {
            path.lineTo(numbers[0], numbers[1]);
        } else if (have("H", 1)) {
            path.lineTo(numbers[0], here.y());
        } else if (have("V", 1)) {
            path.lineTo(here.x(), numbers[0]);
        } else if (have("C", 6)) {
            path.cubicTo(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
        } else {
            continue;
        }
        numbers.clear();
    }
    return path;
}

QList<Shape> readShapes(const QString& fileName) {
    QFile file(fileName);
    QList<Shape> shapes;
    if (!file.open(QIODevice::ReadOnly)) return shapes;
    QXmlStreamReader xml(&file);
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        const QXmlStreamAttributes attributes = xml.attributes();
        const auto number = [&](const char* name) { return attributes.value(QLatin1String(name)).toDouble(); };
        Shape shape;
        if (xml.name() == QLatin1String("path")) {
            shape.path = parsePath(attributes.value("d").toString());
        } else if (xml.name() == QLatin1String("circle")) {
            shape.path.addEllipse(QPointF(number("cx"), number("cy")), number("r"), number("r"));
        } else if (xml.name() == QLatin1String("rect")) {
            shape.path.addRoundedRect(number("x"), number("y"), number("width"), number("height"), number("rx"),
                                      number("rx"));
        } else {
            continue;
        }
        shape.filled = attributes.value("fill") == QLatin1String("currentColor");
        shapes.append(shape);
    }
    return shapes;
}

class IconEngine : public QIconEngine {
public:
    IconEngine(QList<Shape> shapes, QPalette::ColorRole role) : shapes_(std::move(shapes)), role_(role) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
        const auto role = mode == QIcon::Selected ? QPalette::HighlightedText : role_;
        const QColor color = QGuiApplication::palette().color(group, role);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->translate(rect.topLeft());
        painter->scale(rect.width() / kViewBox, rect.height() / kViewBox);
        const QPen pen(color, kStrokeWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
        for (const Shape& shape : shapes_) {
            painter->setPen(shape.filled ? QPen(Qt::NoPen) : pen);
            painter->setBrush(shape.filled ? QBrush(color) : QBrush(Qt::NoBrush));
            painter->drawPath(shape.path);
        }
        painter->restore();
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

    [[nodiscard]] QIconEngine* clone() const override { return new IconEngine(*this); }

private:
    QList<Shape> shapes_;
    QPalette::ColorRole role_;
};

}  // namespace

QIcon glyph(const QString& name, QPalette::ColorRole role) {
    static QHash<QString, QList<Shape>> read;
    if (!read.contains(name)) read.insert(name, readShapes(":/icons/" + name + ".svg"));
    return QIcon(new IconEngine(read.value(name), role));
}

void drawPlayMark(QPainter& painter, QPointF center, double radius) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(0, 0, 0, 150));
    painter.drawEllipse(center, radius, radius);
    painter.setBrush(Qt::white);
    const double side = radius / 2;
    painter.drawPolygon(QPolygonF(
        {center + QPointF(-0.7 * side, -side), center + QPointF(-0.7 * side, side), center + QPointF(1.1 * side, 0)}));
    painter.restore();
}

}  // namespace matte
