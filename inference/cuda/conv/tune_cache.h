// SPDX-License-Identifier: Apache-2.0
// TuneCache: a file in the user's cache folder with the fastest candidate of each tuned problem. The file is only a
// hint: a damaged, foreign or read-only file is treated as missing. One thread at a time; processes may share the file.
// Needs no CUDA.
//
//     TuneCache cache(TuneCache::userFile(), "NVIDIA H200, 9.0, driver 13.0, kernels 1f2e3d4c");
//     std::optional<std::size_t> known = cache.find("sm90 conv3x3 1x64x64 128->128", candidates);
//     cache.remember("sm90 conv3x3 1x64x64 128->128", candidates[fastest(candidates.size(), measure)]);
//     cache.save();
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace matte {

class TuneCache {
public:
    /// Reads the entries of `device`, a text that identifies everything that a measurement depends on, from `file`. An
    /// empty path means no file.
    TuneCache(std::filesystem::path file, std::string device);

    /// matte/kernels.json in $XDG_CACHE_HOME or ~/.cache; empty when neither is an absolute path.
    static std::filesystem::path userFile();

    /// The index of the stored candidate; empty if there is none or it is no longer among the candidates.
    [[nodiscard]] std::optional<std::size_t> find(const std::string& problem,
                                                  const std::vector<std::string>& candidates) const;
    void remember(const std::string& problem, const std::string& candidate);
    /// Merges the entries since the last save() into the file, keeping those of other devices.
    void save();

private:
    std::filesystem::path file_;
    std::string device_;
    std::map<std::string, std::string> chosen_;
    bool changed_ = false;
};

/// The index of the fastest of `count` candidates. `msOf` measures one; NaN or infinity if it can't run. Prefers the
/// first unless another is faster by more than the measurement noise, so that choices are stable from run to run.
std::size_t fastest(std::size_t count, const std::function<double(std::size_t index)>& msOf);

}  // namespace matte
