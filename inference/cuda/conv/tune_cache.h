// SPDX-License-Identifier: Apache-2.0
// Which of several ways to solve a problem was measured to be the fastest, remembered in a file of the user's cache
// folder. The file is a hint: one that is damaged, somebody else's or not writable is as good as none. One thread at a
// time; several programs may share the file. Needs no CUDA.
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
    /// Reads what `file` says about `device`, which names everything that a measurement depends on. An empty path: no
    /// file.
    TuneCache(std::filesystem::path file, std::string device);

    /// matte/kernels.json in $XDG_CACHE_HOME or ~/.cache; empty when neither is an absolute path.
    static std::filesystem::path userFile();

    /// The index of the remembered candidate. None when nothing is remembered or it is not among them any more.
    [[nodiscard]] std::optional<std::size_t> find(const std::string& problem,
                                                  const std::vector<std::string>& candidates) const;
    void remember(const std::string& problem, const std::string& candidate);
    /// Writes what was remembered since the last save() into the file, beside what it holds of other devices.
    void save();

private:
    std::filesystem::path file_;
    std::string device_;
    std::map<std::string, std::string> chosen_;
    bool changed_ = false;
};

/// Milliseconds of candidate `index`; not a number or infinite: it can't run.
using MeasureCandidate = std::function<double(std::size_t index)>;

/// The index of the fastest of `count` candidates: the first, unless another is faster by more than what two
/// measurements of the same thing differ by. So a choice stays the same from run to run where it does not matter.
std::size_t fastest(std::size_t count, const MeasureCandidate& measure);

}  // namespace matte
