// SPDX-License-Identifier: Apache-2.0
// The report of matte-cli evaluate: a table for people, or one JSON object. Main thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inference/engine/engine.h"
#include "inference/tools/evaluate/sequence_metrics.h"

namespace matte {

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
    /// Adds the means of each folder and of all, for the size begun last.
    void endSize();
    void failed(const std::filesystem::path& path, const std::string& sentence);
    /// Prints the table of the unknown bands, or the JSON object, if that was asked for.
    void finish(int exitCode);

private:
    void row(const std::string& name, const std::vector<MatteScores>& all);
    void bandTable() const;

    bool json_;
    std::string size_;
    std::map<std::string, std::vector<MatteScores>> byFolder_;
    bool headed_ = false;
    struct BandRow {
        std::string size, folder;
        std::size_t photos;
        BandScores mean;
    };
    std::vector<BandRow> bands_;  ///< of the second table
    struct Document;              ///< the JSON object
    std::unique_ptr<Document> document_;
};

}  // namespace matte
