// SPDX-License-Identifier: Apache-2.0
// What matte-cli evaluate says: a table for people or one JSON object for machines. Main thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/engine/engine.h"
#include "inference/tools/evaluate/matte_metrics.h"

namespace matte {

/// What was found out about one sequence at one input size.
struct SequenceScores {
    std::string name;
    int frames = 0;
    std::optional<double> flicker, dtSsd, movingError, beside;
    double uncertain = 0;               ///< mean over the frames
    std::optional<MatteScores> mattes;  ///< means over the frames that have a true matte
};

class EvaluateReport {
public:
    EvaluateReport(bool json, const std::filesystem::path& model);
    ~EvaluateReport();
    EvaluateReport(const EvaluateReport&) = delete;
    EvaluateReport& operator=(const EvaluateReport&) = delete;

    /// Begins an input size; 0 is the model's own.
    void beginSize(int size, const EngineInfo& engine);
    void photo(const std::string& folder, const std::filesystem::path& path, const MatteScores& scores);
    void sequence(const SequenceScores& scores);
    /// Means by folder and of everything, for the size begun last.
    void endSize();
    void failed(const std::filesystem::path& path, const std::string& sentence);
    /// Prints the JSON object.
    void finish(int exitCode);

private:
    void row(const std::string& name, const std::vector<MatteScores>& all);

    bool json_;
    std::string size_;
    std::map<std::string, std::vector<MatteScores>> byFolder_;
    bool headed_ = false;
    struct Document;  ///< the JSON object
    std::unique_ptr<Document> document_;
};

}  // namespace matte
