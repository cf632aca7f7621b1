// SPDX-License-Identifier: Apache-2.0
#include "inference/cuda/conv/tune_cache.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "inference/core/atomic_file.h"
#include "inference/core/error.h"

namespace matte {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
// What a file of our own never exceeds.
constexpr std::size_t kMaxBytes = 1 << 20, kMaxDevices = 8, kMaxProblems = 1024, kMaxText = 200;
constexpr int kMaxDepth = 3;  // {"devices": {DEVICE: {PROBLEM: CANDIDATE}}}

/// {DEVICE: {PROBLEM: CANDIDATE}} of the file, or nothing at all.
Json devicesIn(const std::filesystem::path& file) {
    std::error_code error;
    if (file.empty() || !std::filesystem::is_regular_file(file, error)) return Json::object();
    std::string text(kMaxBytes + 1, '\0');
    std::ifstream in(file, std::ios::binary);
    in.read(text.data(), std::streamsize(text.size()));
    text.resize(std::size_t(in.gcount()));
    if (text.empty() || text.size() > kMaxBytes) return Json::object();
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; };
    const Json parsed = Json::parse(text, shallow, false);
    if (!parsed.is_object() || parsed.value("format", Json()) != Json(kFormat)) return Json::object();
    const auto devices = parsed.find("devices");
    return devices != parsed.end() && devices->is_object() ? *devices : Json::object();
}

std::map<std::string, std::string> choicesOf(const Json& device) {
    std::map<std::string, std::string> choices;
    if (!device.is_object()) return choices;
    for (const auto& [problem, candidate] : device.items()) {
        if (choices.size() >= kMaxProblems) break;
        if (!candidate.is_string() || problem.size() > kMaxText) continue;
        if (auto text = candidate.get<std::string>(); text.size() <= kMaxText) choices[problem] = std::move(text);
    }
    return choices;
}

}  // namespace

TuneCache::TuneCache(std::filesystem::path file, std::string device)
    : file_(std::move(file)), device_(std::move(device)) {
    const Json devices = devicesIn(file_);
    if (const auto mine = devices.find(device_); mine != devices.end()) chosen_ = choicesOf(*mine);
}

std::filesystem::path TuneCache::userFile() {
    // A relative path means nothing here: XDG Base Directory Specification.
    if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && folder[0] == '/') {
        return std::filesystem::path(folder) / "matte" / "kernels.json";
    }
    const char* home = std::getenv("HOME");
    if (!home || home[0] != '/') return {};
    return std::filesystem::path(home) / ".cache" / "matte" / "kernels.json";
}

std::optional<std::size_t> TuneCache::find(const std::string& problem,
                                           const std::vector<std::string>& candidates) const {
    const auto known = chosen_.find(problem);
    if (known == chosen_.end()) return std::nullopt;
    const auto found = std::ranges::find(candidates, known->second);
    if (found == candidates.end()) return std::nullopt;
    return std::size_t(found - candidates.begin());
}

void TuneCache::remember(const std::string& problem, const std::string& candidate) {
    chosen_[problem] = candidate;
    changed_ = true;
}

void TuneCache::save() {
    if (!changed_ || file_.empty()) return;
    changed_ = false;  // not tried again: a folder that can't be written now won't be at the next size either
    try {
        Json devices = devicesIn(file_);
        // Another program may have measured something else in the meantime. What is over the limit goes: the file
        // would not be read any more.
        for (const auto& [problem, candidate] : choicesOf(devices.value(device_, Json()))) {
            if (chosen_.size() < kMaxProblems) chosen_.emplace(problem, candidate);
        }
        while (chosen_.size() > kMaxProblems) chosen_.erase(chosen_.begin());
        devices.erase(device_);
        while (devices.size() >= kMaxDevices) devices.erase(devices.begin());  // the one that was used longest ago
        devices[device_] = chosen_;
        const Json file{{"format", kFormat}, {"devices", devices}};
        const std::string text = file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
        std::filesystem::create_directories(file_.parent_path());
        writeFile(file_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    } catch (const Error&) {  // read-only or full: measured again the next time
    } catch (const std::filesystem::filesystem_error&) {
    }
}

std::size_t fastest(std::size_t count, const std::function<double(std::size_t index)>& msOf) {
    constexpr double kWorthIt = 0.98;
    std::size_t best = 0;
    double first = INFINITY, least = INFINITY;
    for (std::size_t i = 0; i < count; ++i) {
        const double ms = msOf(i);
        if (i == 0 && std::isfinite(ms)) first = ms;
        if (!(ms < least)) continue;
        least = ms;
        best = i;
    }
    return least < kWorthIt * first ? best : 0;
}

}  // namespace matte
