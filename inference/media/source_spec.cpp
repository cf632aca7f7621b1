// SPDX-License-Identifier: Apache-2.0
#include "inference/media/source_spec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "inference/core/error.h"

namespace matte {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr int kLeastSide = 16, kMostWidth = 7680, kMostHeight = 4320;
constexpr double kMostRate = 1000;
/// What is safe to hand to FFmpeg: it also knows addresses that read local files or run together others.
constexpr std::array<std::string_view, 8> kSchemes{"http", "https", "rtsp", "rtsps", "rtmp", "udp", "tcp", "srt"};

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(ErrorCategory::usage, sentence);
}

/// All of `text` as a number.
template <typename T>
bool readNumber(std::string_view text, T& value) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end == text.data() + text.size();
}

void readSize(std::string_view text, Size& size) {
    const auto cross = text.find('x');
    if (cross == std::string_view::npos || !readNumber(text.substr(0, cross), size.width) ||
        !readNumber(text.substr(cross + 1), size.height) || size.width < kLeastSide || size.height < kLeastSide ||
        size.width > kMostWidth || size.height > kMostHeight) {
        refuse("'" + std::string(text) + "' is no size for the test person: write one from 16x16 to 7680x4320.");
    }
}

void readRate(std::string_view text, double& rate) {
    if (text == "max") {
        rate = kUnthrottled;
    } else if (!readNumber(text, rate) || !(rate >= 1 && rate <= kMostRate)) {
        refuse("'" + std::string(text) + "' is no rate for the test person: write 1 to 1000 frames a second, or max.");
    }
}

SourceSpec parseTest(std::string_view what) {
    SourceSpec spec{SourceSpec::Kind::test, "person", {1280, 720}, 30};
    const auto colon = what.find(':');
    if (what.substr(0, colon) != "person") {
        refuse("There is no test source '" + std::string(what) + "': write test:person or test:person:1920x1080@60.");
    }
    if (colon == std::string_view::npos) return spec;
    const std::string_view rest = what.substr(colon + 1);
    const auto at = rest.find('@');
    readSize(rest.substr(0, at), spec.size);
    if (at != std::string_view::npos) readRate(rest.substr(at + 1), spec.rate);
    return spec;
}

/// The part before "://", empty when the text is no address.
std::string_view schemeOf(std::string_view text) {
    const auto end = text.find("://");
    if (end == std::string_view::npos || end == 0) return {};
    const std::string_view scheme = text.substr(0, end);
    const bool isScheme = std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
               c == '.';
    });
    return isScheme ? scheme : std::string_view{};
}

SourceSpec parseAddress(std::string_view text, std::string_view scheme) {
    if (std::find(kSchemes.begin(), kSchemes.end(), scheme) == kSchemes.end()) {
        refuse("Addresses that begin with " + std::string(scheme) +
               ":// can't be opened: use http, https, rtsp, rtmp, udp, tcp or srt, or the path of a file.");
    }
    return {SourceSpec::Kind::url, std::string(text), {}, 0};
}

constexpr std::string_view kHidden = "…";
constexpr std::size_t kLongestShown = 32;  ///< a part of a path that is longer may be what lets somebody in

/// As it is when it consists of letters, digits and these alone.
std::string_view shownPart(std::string_view part, std::string_view others) {
    const bool isPlain = std::ranges::all_of(part, [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) != std::string_view::npos;
    });
    return isPlain ? part : kHidden;
}

}  // namespace

SourceSpec parseSource(std::string_view text) {
    if (text.empty()) refuse("The source has no name: write camera, camera:NAME, a file, a folder or test:person.");
    if (text.size() > kLongestText) refuse("The name of the source is too long: it may have 4096 bytes.");
    if (std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; })) {
        refuse("The name of the source has a control character in it: type the name again.");
    }
    if (text == "camera") return {};
    if (text.starts_with("camera:")) {
        if (text.size() == 7) refuse("The camera has no name: write camera:NAME, or camera alone for the first one.");
        return {SourceSpec::Kind::camera, std::string(text.substr(7)), {}, 0};
    }
    if (text.starts_with("test:")) return parseTest(text.substr(5));
    if (const auto scheme = schemeOf(text); !scheme.empty()) return parseAddress(text, scheme);
    return {SourceSpec::Kind::file, std::string(text), {}, 0};
}

std::string shownAddress(std::string_view address) {
    const std::string_view scheme = schemeOf(address);
    if (scheme.empty()) return std::string(kHidden);
    const std::string_view rest = address.substr(scheme.size() + 3);
    const auto hostEnds = std::min(rest.find_first_of("/?#"), rest.size());
    const std::string_view owner = rest.substr(0, hostEnds);
    std::string shown(scheme);
    shown.append("://").append(shownPart(owner.substr(owner.rfind('@') + 1), ".-_:[]"));  // npos + 1 is 0

    std::string_view path = rest.substr(hostEnds, rest.find_first_of("?#", hostEnds) - hostEnds);
    while (!path.empty()) {
        path.remove_prefix(1);  // its slash
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(part.size());
        const bool isKey = path.empty() && scheme == "rtmp";
        shown.append("/").append(isKey || part.size() > kLongestShown ? kHidden : shownPart(part, ".-_~"));
    }
    return shown;
}

std::string toString(const SourceSpec& spec) {
    switch (spec.kind) {
        case SourceSpec::Kind::camera: return spec.name.empty() ? "camera" : "camera:" + spec.name;
        case SourceSpec::Kind::test: {
            std::array<char, 32> rate{};  // the fewest digits that read back as the same number
            std::to_chars(rate.data(), rate.data() + rate.size() - 1, spec.rate);
            return "test:" + spec.name + ":" + std::to_string(spec.size.width) + "x" +
                   std::to_string(spec.size.height) + "@" + (spec.rate == kUnthrottled ? "max" : rate.data());
        }
        default: return spec.name;
    }
}

}  // namespace matte
