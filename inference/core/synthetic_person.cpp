// SPDX-License-Identifier: Apache-2.0
#include "inference/core/synthetic_person.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "inference/core/error.h"
#include "inference/core/pixel_math.h"

namespace matte {
namespace {

constexpr std::uint32_t kNoise = 1U << 16;
constexpr float kTurn = 2 * std::numbers::pi_v<float>;

/// A well-mixed number for each number.
std::uint32_t hash(std::uint32_t value) {
    value = (value ^ (value >> 16)) * 0x7feb352dU;
    value = (value ^ (value >> 15)) * 0x846ca68bU;
    return value ^ (value >> 16);
}
float unitHash(std::uint32_t value) {
    return float(hash(value) >> 8) / float(1U << 24);
}

struct Point {
    float x = 0, y = 0;
    Point operator+(Point o) const { return {x + o.x, y + o.y}; }
    Point operator-(Point o) const { return {x - o.x, y - o.y}; }
    Point operator*(float k) const { return {x * k, y * k}; }
};
float length(Point p) {
    return std::sqrt(p.x * p.x + p.y * p.y);
}
Point turned(float angle) {
    return {std::cos(angle), std::sin(angle)};
}

using Rgb = std::array<float, 3>;
Rgb operator*(Rgb c, float k) {
    return {c[0] * k, c[1] * k, c[2] * k};
}
Rgb mixed(Rgb a, Rgb b, float share) {
    return {a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share};
}

constexpr Rgb kSkin{226, 172, 140}, kHair{58, 40, 32}, kShirt{44, 78, 132}, kLips{176, 92, 88}, kEye{40, 32, 30};

/// Distances in pixels to the edge of a shape, negative inside.
float toEllipse(Point p, Point radii) {
    const Point scaled{p.x / radii.x, p.y / radii.y};
    const float k = length(scaled);
    const float slope = length({scaled.x / radii.x, scaled.y / radii.y});
    return slope > 0 ? k * (k - 1) / slope : -std::min(radii.x, radii.y);
}
float toCapsule(Point p, Point from, Point to, float radius) {
    const Point along = to - from, away = p - from;
    const float t = clampUnit((away.x * along.x + away.y * along.y) / (along.x * along.x + along.y * along.y));
    return length(away - along * t) - radius;
}
/// Alpha of a hard edge: a pixel wide.
float covered(float distance) {
    return clampUnit(0.5F - distance);
}
float smooth(float value) {
    const float t = clampUnit(value);
    return t * t * (3 - 2 * t);
}

/// Draws a part of the person over what is there: `alphaAt(p)` and `colourAt(p)` for each pixel of the box.
template <typename AlphaAt, typename ColourAt>
void drawPart(Image& layer, Point least, Point most, AlphaAt alphaAt, ColourAt colourAt) {
    const Size size = layer.size();
    const int left = std::max(0, int(least.x)), right = std::min(size.width, int(most.x) + 2);
    const int top = std::max(0, int(least.y)), bottom = std::min(size.height, int(most.y) + 2);
    for (int y = top; y < bottom; ++y) {
        std::uint8_t* pixel = layer.row(y) + std::ptrdiff_t(left) * 4;
        for (int x = left; x < right; ++x, pixel += 4) {
            const Point p{float(x) + 0.5F, float(y) + 0.5F};
            const float a = alphaAt(p);
            if (a <= 0) continue;
            const Rgb colour = colourAt(p);
            const float below = float(pixel[3]) / 255 * (1 - a), total = a + below;
            const float part = a / total, rest = below / total;
            for (std::size_t c = 0; c < 3; ++c) {
                pixel[c] = std::uint8_t(std::clamp(colour[c], 0.0F, 255.0F) * part + float(pixel[c]) * rest + 0.5F);
            }
            pixel[3] = std::uint8_t(total * 255 + 0.5F);
        }
    }
}

/// Where everything is in one frame, in pixels; `unit` is the picture's height, or less in a narrow picture.
struct Pose {
    float unit = 0;
    Point head, chest, shoulder, elbow, wrist;
    float hand = 0;  // angle of the forearm

    Pose(Size size, float phase) {
        unit = std::min(float(size.height), float(size.width) * 0.9F);
        const float sway = std::sin(kTurn * phase);
        const Point foot{float(size.width) / 2 + 0.012F * unit * sway, float(size.height)};
        head = foot + Point{0.01F * unit * sway, -0.615F * unit + 0.006F * unit * std::cos(2 * kTurn * phase)};
        chest = foot + Point{0, 0.01F * unit};
        shoulder = foot + Point{0.27F * unit, -0.26F * unit};
        elbow = foot + Point{0.41F * unit, -0.10F * unit};
        hand = -kTurn / 4 + 0.55F * std::sin(2 * kTurn * phase);  // two waves in a loop
        wrist = elbow + turned(hand) * (0.25F * unit);
    }
};

class PersonPainter {
public:
    PersonPainter(Image& layer, const Pose& pose) : layer_(layer), pose_(pose), unit_(pose.unit) {}

    void paint() {
        hairBehind();
        torso();
        limb(pose_.head + Point{0, 0.08F * unit_}, pose_.head + Point{0, 0.20F * unit_}, 0.062F, kSkin * 0.84F);
        face();
        fringe();
        limb(pose_.shoulder, pose_.elbow, 0.066F, kShirt * 0.94F);
        limb(pose_.elbow, pose_.wrist, 0.045F, kShirt * 1.08F);
        hand();
    }

private:
    /// Strands: the edge of the hair goes in and out with the direction, and fades over a fortieth of the picture.
    [[nodiscard]] float strands(Point fromMiddle, float distance) const {
        // Most pixels are far from the edge, whichever way the strand goes.
        if (distance >= 0.012F * unit_) return 0;
        if (distance <= -0.028F * unit_) return 1;
        const float turn = std::atan2(fromMiddle.y, fromMiddle.x);
        const float wave = std::sin(turn * 23) * 0.5F + std::sin(turn * 57 + 1) * 0.3F + std::sin(turn * 131) * 0.2F;
        return smooth((0.004F * unit_ - distance + wave * 0.008F * unit_) / (0.024F * unit_));
    }
    [[nodiscard]] static Rgb hairColour(Point fromMiddle) {
        return kHair * (1 + 0.22F * std::sin(std::atan2(fromMiddle.y, fromMiddle.x) * 71));
    }

    void hair(Point middle, Point radii, float lowest) {
        const float soft = 0.035F * unit_;
        drawPart(
            layer_, middle - radii - Point{soft, soft},
            {middle.x + radii.x + soft, std::min(lowest, middle.y + radii.y) + soft},
            [&](Point p) {
                const float edge = strands(p - middle, toEllipse(p - middle, radii));
                const float lower = lowest + 0.008F * unit_ * std::sin((p.x - middle.x) / unit_ * 160);
                return edge * smooth((lower - p.y) / (0.012F * unit_) + 0.5F);
            },
            [&](Point p) { return hairColour(p - middle); });
    }
    void hairBehind() {
        const Point middle = pose_.head + Point{0, -0.012F * unit_};
        hair(middle, {0.132F * unit_, 0.172F * unit_}, middle.y + 0.11F * unit_);
    }
    void fringe() {
        const Point middle = pose_.head + Point{0, -0.052F * unit_};
        hair(middle, {0.118F * unit_, 0.118F * unit_}, pose_.head.y - 0.062F * unit_);
    }

    void torso() {
        const Point radii{0.35F * unit_, 0.405F * unit_};
        drawPart(
            layer_, pose_.chest - radii, pose_.chest + radii,
            [&](Point p) { return covered(toEllipse(p - pose_.chest, radii)); },
            [&](Point p) {
                const Point q = (p - pose_.chest) * (1 / unit_);
                const float light = 1.1F - 1.1F * q.x * q.x + 0.12F * std::sin(q.x * 24 + std::sin(q.y * 9));
                return kShirt * (light + 0.08F * std::sin(q.y * 260));  // folds, and the weave
            });
    }

    void limb(Point from, Point to, float thickness, Rgb colour) {
        const float radius = thickness * unit_;
        drawPart(
            layer_, Point{std::min(from.x, to.x) - radius, std::min(from.y, to.y) - radius},
            Point{std::max(from.x, to.x) + radius, std::max(from.y, to.y) + radius},
            [&](Point p) { return covered(toCapsule(p, from, to, radius)); },
            [&](Point p) { return colour * (0.86F - 0.24F * toCapsule(p, from, to, radius) / radius); });
    }

    void hand() {
        const Point along = turned(pose_.hand);
        const Point palm = pose_.wrist + along * (0.04F * unit_);
        limb(pose_.wrist, palm, 0.036F, kSkin);
        for (const float spread : {-0.55F, -0.2F, 0.12F, 0.42F}) {
            limb(palm, palm + turned(pose_.hand + spread) * (0.085F * unit_), 0.0125F, kSkin);
        }
        limb(palm, palm + turned(pose_.hand - 1.2F) * (0.07F * unit_), 0.014F, kSkin);
    }

    [[nodiscard]] Rgb faceColour(Point p) const {
        const Point q = (p - pose_.head) * (1 / unit_);
        Rgb colour = kSkin * (1.04F - 14 * q.x * q.x - 3.2F * q.y * q.y - 0.6F * q.x);
        for (const float side : {-0.043F, 0.043F}) {
            const float eye = toEllipse({q.x - side, q.y + 0.012F}, {0.018F, 0.0085F}) * unit_;
            colour = mixed(colour, {238, 234, 230}, covered(eye));
            colour = mixed(colour, kEye, covered((length({q.x - side, q.y + 0.012F}) - 0.0085F) * unit_));
            const float brow = toCapsule({q.x - side, q.y + 0.038F}, {-0.02F, 0.003F}, {0.02F, 0}, 0.0045F) * unit_;
            colour = mixed(colour, kHair, 0.8F * covered(brow));
        }
        colour = colour * (1 - 0.18F * smooth(1 - length({(q.x - 0.012F) / 0.016F, (q.y - 0.028F) / 0.035F})));
        return mixed(colour, kLips, covered(toEllipse({q.x, q.y - 0.074F}, {0.036F, 0.0105F}) * unit_));
    }
    void face() {
        const Point radii{0.106F * unit_, 0.143F * unit_};
        drawPart(
            layer_, pose_.head - radii, pose_.head + radii,
            [&](Point p) { return covered(toEllipse(p - pose_.head, radii)); }, [&](Point p) { return faceColour(p); });
    }

    Image& layer_;
    const Pose& pose_;
    float unit_;
};

/// A wall with a window, a shelf of books and a grain over it all.
Rgb roomColour(float x, float y, std::uint32_t pixel) {
    Rgb colour = mixed({196, 188, 172}, {150, 142, 134}, clampUnit(y));
    if (x > -0.78F && x < -0.42F && y > 0.10F && y < 0.55F) {
        const bool frame = std::fabs(x + 0.60F) < 0.008F || std::fabs(y - 0.32F) < 0.008F;
        colour = frame ? Rgb{232, 230, 226} : mixed({176, 208, 238}, {222, 232, 240}, (y - 0.10F) / 0.45F);
    }
    if (x > 0.30F && x < 0.86F && y > 0.08F && y < 0.62F) {
        const float board = std::fmod(y - 0.08F, 0.18F);
        const auto book = std::uint32_t((x - 0.30F) * 42) * 7919U + std::uint32_t((y - 0.08F) / 0.18F) * 104729U;
        const float tall = 0.03F + 0.05F * unitHash(book);
        colour = {74, 54, 40};
        if (board > tall && board < 0.165F) {
            const Rgb paint{60 + 150 * unitHash(book + 1), 50 + 120 * unitHash(book + 2),
                            50 + 120 * unitHash(book + 3)};
            colour = paint * (0.75F + 0.25F * std::sin(std::fmod((x - 0.30F) * 42, 1.0F) * kTurn / 2));
        }
    }
    return colour * (0.97F + 0.06F * unitHash(pixel));
}

Image drawRoom(Size size) {
    Image room(size, PixelFormat::bgr8);
    for (int y = 0; y < size.height; ++y) {
        std::uint8_t* pixel = room.row(y);
        for (int x = 0; x < size.width; ++x, pixel += 3) {
            const float fromMiddle = (float(x) - float(size.width) / 2) / float(size.height);
            const Rgb colour = roomColour(fromMiddle, float(y) / float(size.height),
                                          std::uint32_t(y) * std::uint32_t(size.width) + std::uint32_t(x));
            for (std::size_t c = 0; c < 3; ++c) pixel[2 - c] = std::uint8_t(std::clamp(colour[c], 0.0F, 255.0F) + 0.5F);
        }
    }
    return room;
}

/// A sum of twelve even numbers is close to a normal one.
std::vector<std::int8_t> drawNoise(double deviation, int width) {
    std::vector<std::int8_t> noise(kNoise + std::size_t(width) * 3);
    for (std::uint32_t i = 0; i < kNoise; ++i) {
        float sum = -6;
        for (std::uint32_t k = 0; k < 12; ++k) sum += unitHash(i * 12 + k);
        noise[i] = std::int8_t(std::clamp(std::lround(sum * float(deviation)), -127L, 127L));
    }
    for (std::size_t i = kNoise; i < noise.size(); ++i) noise[i] = noise[i - kNoise];
    return noise;
}

std::array<float, 256> linearTable() {
    std::array<float, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = srgbToLinear(float(i) / 255);
    return table;
}

/// One pixel of the cutout (RGBA) over one of the room (BGR).
void blend(const std::uint8_t* person, std::uint8_t* room) {
    static const std::array<float, 256> linear = linearTable();
    const float share = float(person[3]) / 255;
    for (int c = 0; c < 3; ++c) {
        if (person[3] == 255) {
            room[c] = person[2 - c];
        } else {
            const float light = share * linear[person[2 - c]] + (1 - share) * linear[room[c]];
            room[c] = std::uint8_t(linearToSrgb(light) * 255 + 0.5F);
        }
    }
}

}  // namespace

SyntheticPerson::SyntheticPerson(Size size, int loop, double noise)
    : size_(size), loop_(std::max(1, loop)), room_(drawRoom(size)), noise_(drawNoise(noise, size.width)) {}

void SyntheticPerson::drawCutout(std::uint64_t number, Image& cutout) const {
    std::memset(cutout.row(0), 0, cutout.bytes());
    const Pose pose(size_, float(number % std::uint64_t(loop_)) / float(loop_));
    PersonPainter(cutout, pose).paint();
}

void SyntheticPerson::drawFrame(std::uint64_t number, Image& frame) const {
    Image scratch(size_, PixelFormat::rgba8);
    drawFrame(number, frame, scratch);
}

void SyntheticPerson::drawFrame(std::uint64_t number, Image& frame, Image& scratch) const {
    if (frame.size() != size_ || frame.format() != PixelFormat::bgr8 || scratch.size() != size_ ||
        scratch.format() != PixelFormat::rgba8) {
        throw Error(ErrorCategory::input,
                    "The synthetic person is drawn into a bgr8 picture of its own size: make one.");
    }
    drawCutout(number, scratch);
    const auto inLoop = std::uint32_t(number % std::uint64_t(loop_));
    for (int y = 0; y < size_.height; ++y) {
        const std::uint8_t *person = scratch.row(y), *room = room_.row(y);
        const std::int8_t* noise = noise_.data() + hash(inLoop * 65537U + std::uint32_t(y)) % kNoise;
        std::uint8_t* out = frame.row(y);
        const auto bytes = std::size_t(size_.width) * 3;
        std::memcpy(out, room, bytes);
        for (int x = 0; x < size_.width; ++x, person += 4) {
            if (person[3] != 0) blend(person, out + std::ptrdiff_t(x) * 3);
        }
        for (std::size_t i = 0; i < bytes; ++i) out[i] = std::uint8_t(std::clamp(out[i] + noise[i], 0, 255));
    }
}

Image SyntheticPerson::cutout(std::uint64_t number) const {
    Image layer(size_, PixelFormat::rgba8);
    drawCutout(number, layer);
    return layer;
}

Image SyntheticPerson::alpha(std::uint64_t number) const {
    const Image layer = cutout(number);
    Image alpha(size_, PixelFormat::gray8);
    for (int y = 0; y < size_.height; ++y) {
        for (int x = 0; x < size_.width; ++x) alpha.row(y)[x] = layer.row(y)[x * 4 + 3];
    }
    return alpha;
}

}  // namespace matte
