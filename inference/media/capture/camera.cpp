// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/camera.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <tuple>

#include "inference/core/error.h"
#include "inference/core/image.h"
#include "inference/media/frame_convert.h"

namespace matte {
namespace {

/// Below this a live picture stutters.
constexpr double kLeastLiveRate = 24;
constexpr Size kBestSize{1920, 1080}, kGoodSize{1280, 720};
/// What is picked out of a range of sizes.
constexpr std::array<Size, 5> kUsualSizes{{{1920, 1080}, {1280, 720}, {960, 540}, {640, 480}, {320, 240}}};
/// Taken for a camera that doesn't say.
constexpr double kUnsaidRate = 30;
/// What is picked out of a range of rates.
constexpr std::array<double, 5> kUsualRates{60, 30, 24, 15, 10};
constexpr double kMostRate = 1000;

double distance(Size a, Size b) {
    return std::abs(double(a.width) - b.width) + std::abs(double(a.height) - b.height);
}

/// The mode's rate nearest to the one that is wanted, its highest when none is.
double rateIn(const CameraMode& mode, double wanted) {
    if (mode.rates.empty()) return wanted > 0 ? wanted : kUnsaidRate;
    if (wanted <= 0) return *std::max_element(mode.rates.begin(), mode.rates.end());
    return *std::min_element(mode.rates.begin(), mode.rates.end(), [&](double a, double b) {
        // Of two that are as far, the faster.
        return std::make_pair(std::abs(a - wanted), -a) < std::make_pair(std::abs(b - wanted), -b);
    });
}

/// Smaller is better when nobody says which size: live at 1080p, live at 720p, live at the nearest to 720p, then the
/// fastest.
double sizeRank(Size size, double rate) {
    if (rate < kLeastLiveRate) return 1e6 - rate;
    if (size == kBestSize) return 0;
    if (size == kGoodSize) return 1;
    return 2 + distance(size, kGoodSize);
}

}  // namespace

void addSize(std::vector<Size>& sizes, std::uint32_t width, std::uint32_t height) {
    if (width == 0 || height == 0 || width > kMostCameraSide || height > kMostCameraSide) return;
    const Size size{int(width), int(height)};
    if (size.pixels() > Image::kMaxPixels) return;
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
}

void addUsualSizes(std::vector<Size>& sizes, const SizeRange& range) {
    const auto holds = [](int side, std::uint32_t least, std::uint32_t most, std::uint32_t step) {
        const auto value = std::uint32_t(side);
        return value >= least && value <= most && (value - least) % std::max(1U, step) == 0;
    };
    for (const Size usual : kUsualSizes) {
        if (holds(usual.width, range.leastWidth, range.mostWidth, range.stepX) &&
            holds(usual.height, range.leastHeight, range.mostHeight, range.stepY)) {
            addSize(sizes, std::uint32_t(usual.width), std::uint32_t(usual.height));
        }
    }
}

void addRates(std::vector<double>& rates, double least, double most) {
    rates.push_back(most);
    for (const double usual : kUsualRates) {
        if (usual >= least && usual <= most) rates.push_back(usual);
    }
}

void tidyRates(std::vector<double>& rates) {
    std::erase_if(rates, [](double rate) { return !(rate > 0 && rate <= kMostRate); });
    std::sort(rates.begin(), rates.end(), std::greater<>());
    rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
}

std::optional<CaptureChoice> chooseMode(std::span<const CameraMode> modes, const CaptureSettings& wanted) {
    // Smaller is better.
    using Rank = std::tuple<bool, bool, double, double, double, int>;
    std::optional<CaptureChoice> best;
    Rank bestRank;
    for (const auto& mode : modes) {
        if (!isReadable(mode.encoding)) continue;
        const double rate = rateIn(mode, wanted.rate);
        const double byRate = wanted.rate > 0 ? std::abs(rate - wanted.rate) : 0;
        const double bySize = wanted.size.width > 0 ? distance(mode.size, wanted.size) : sizeRank(mode.size, rate);
        const bool rateFirst = wanted.size.width <= 0;  // it alone was said, if anything
        const Rank rank{wanted.encoding != Encoding::any && mode.encoding != wanted.encoding,
                        mode.encoding == Encoding::h264,  // its frames come late: only where nothing else is there
                        rateFirst ? byRate : bySize,
                        rateFirst ? bySize : byRate,
                        -rate,
                        readingCost(mode.encoding)};
        if (!best || rank < bestRank) {
            best = CaptureChoice{mode.encoding, mode.size, rate};
            bestRank = rank;
        }
    }
    return best;
}

CaptureChoice chosenMode(const CameraInfo& camera, const CaptureSettings& wanted) {
    if (const auto choice = chooseMode(std::span(camera.modes), wanted)) return *choice;
    throw Error(ErrorCategory::source,
                "The camera " + camera.name + " sends no format that can be read: choose another camera.");
}

void sortBySize(std::vector<CameraMode>& modes) {
    std::ranges::stable_sort(modes, std::greater<>(), [](const CameraMode& mode) { return mode.size.pixels(); });
}

std::string withoutControls(std::string text) {
    std::erase_if(text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
    return text;
}

void tellApart(std::vector<CameraInfo>& cameras) {
    std::sort(cameras.begin(), cameras.end(),
              [](const auto& a, const auto& b) { return std::tie(a.name, a.id) < std::tie(b.name, b.id); });
    std::string model;
    int same = 0;
    for (auto& camera : cameras) {
        same = camera.name == model ? same + 1 : 1;
        model = camera.name;
        if (same > 1) camera.name += " (" + std::to_string(same) + ")";
    }
}

const CameraInfo* findCamera(std::span<const CameraInfo> cameras, std::string_view name) {
    if (name.empty()) return cameras.empty() ? nullptr : cameras.data();
    for (const auto part : {&CameraInfo::id, &CameraInfo::name}) {
        const auto found = std::ranges::find(cameras, name, part);
        if (found != cameras.end()) return &*found;
    }
    return nullptr;
}

void refuseMissingCamera(std::string_view name) {
    if (name.empty()) throw Error(ErrorCategory::source, "There is no camera: plug one in, or choose a video.");
    throw Error(ErrorCategory::source,
                "The camera " + std::string(name) + " is not there: plug it in, or choose another.");
}

std::string toString(const CameraMode& mode) {
    std::string text =
        nameOf(mode.encoding) + " " + std::to_string(mode.size.width) + "x" + std::to_string(mode.size.height);
    const char* separator = " at ";
    for (const double rate : mode.rates) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.4g", rate);
        text += separator + std::string(digits);
        separator = ", ";
    }
    return text;
}

}  // namespace matte
