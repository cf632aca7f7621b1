// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/evaluate/evaluate_report.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "inference/tools/cli/picture_list.h"

namespace matte {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
    const char *name, *heading;
    double MatteScores::*measure;
};
constexpr Column kColumns[] = {{"meanIou", "mIoU", &MatteScores::meanIou},
                               {"personIou", "person", &MatteScores::personIou},
                               {"mad", "MAD", &MatteScores::mad},
                               {"mse", "MSE", &MatteScores::mse},
                               {"gradient", "grad.", &MatteScores::gradient},
                               {"connectivity", "conn.", &MatteScores::connectivity},
                               {"boundary", "bound.", &MatteScores::boundary},
                               {"uncertain", "uncert.", &MatteScores::uncertain},
                               {"uncertainAway", "away", &MatteScores::uncertainAway}};

struct BandColumn {
    const char *name, *heading;
    double BandScores::*measure;
};
constexpr BandColumn kBandColumns[] = {{"sad", "SAD", &BandScores::sad},
                                       {"mse", "MSE", &BandScores::mse},
                                       {"gradient", "grad.", &BandScores::gradient},
                                       {"connectivity", "conn.", &BandScores::connectivity},
                                       {"hairGradient", "hair", &BandScores::hairGradient}};

Json toJson(const MatteScores& scores) {
    Json json;
    for (const Column& column : kColumns) json[column.name] = scores.*column.measure;
    json["band"] = nullptr;
    if (!scores.band) return json;
    for (const BandColumn& column : kBandColumns) json["band"][column.name] = (*scores.band).*column.measure;
    return json;
}

std::size_t countBands(const std::vector<MatteScores>& all) {
    return std::size_t(std::ranges::count_if(all, [](const MatteScores& one) { return one.band.has_value(); }));
}

Json toJson(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// Means, the worst tenth, and of how many.
Json toJson(const std::vector<MatteScores>& all) {
    Json json = toJson(meanScores(all));
    json["worstTenth"] = worstTenth(all);
    json["photos"] = all.size();
    if (const auto bands = countBands(all)) json["band"]["photos"] = bands;
    return json;
}

}  // namespace

struct EvaluateReport::Document {
    Json json;
    [[nodiscard]] Json& size() { return json["sizes"].back(); }
};

EvaluateReport::EvaluateReport(bool json, const std::filesystem::path& model)
    : json_(json), document_(std::make_unique<Document>()) {
    document_->json = {{"version", MATTE_VERSION},
                       {"model", model.string()},
                       {"engine", nullptr},
                       {"sizes", Json::array()},
                       {"failures", Json::array()}};
}

EvaluateReport::~EvaluateReport() = default;

void EvaluateReport::beginSize(int size, const EngineInfo& engine) {
    size_ = size ? std::to_string(size) : "own";
    byFolder_.clear();
    document_->json["engine"] = engine.name;
    document_->json["sizes"].push_back({{"size", size ? Json(size) : Json("own")}});
    if (!json_ && !headed_)
        std::printf("%s, %s\n", document_->json["model"].get<std::string>().c_str(), engine.name.c_str());
}

void EvaluateReport::photo(const std::string& folder, const std::filesystem::path& path, const MatteScores& scores) {
    byFolder_[folder].push_back(scores);
    Json entry = {{"photo", path.string()}};
    entry.update(toJson(scores));
    document_->size()["photos"].push_back(std::move(entry));
}

void EvaluateReport::sequence(const SequenceScores& scores) {
    Json entry = {{"sequence", scores.name},
                  {"frames", scores.frames},
                  {"flicker", toJson(scores.flicker)},
                  {"dtSsd", toJson(scores.dtSsd)},
                  {"movingError", toJson(scores.movingError)},
                  {"beside", toJson(scores.beside)},
                  {"switches", toJson(scores.switches)},
                  {"wrongSwitches", toJson(scores.wrongSwitches)},
                  {"limbsLost", toJson(scores.limbsLost)},
                  {"limbsKept", toJson(scores.limbsKept)},
                  {"thingsShown", toJson(scores.thingsShown)},
                  {"thingsShownIn", toJson(scores.thingsShownIn)},
                  {"uncertain", scores.uncertain}};
    if (scores.mattes) entry["mattes"] = toJson(*scores.mattes);
    document_->size()["sequences"].push_back(std::move(entry));
    if (json_) return;
    const auto text = [](const std::optional<double>& value) {
        char number[32] = "-";
        if (value) std::snprintf(number, sizeof number, "%.5f", *value);
        return std::string(number);
    };
    std::printf(
        "%5s %-36s %5d frames  flicker %s  dtSSD %s  moving %s  beside %s  switches %s  wrong %s  uncertain %.4f",
        size_.c_str(), printable(scores.name).c_str(), scores.frames, text(scores.flicker).c_str(),
        text(scores.dtSsd).c_str(), text(scores.movingError).c_str(), text(scores.beside).c_str(),
        text(scores.switches).c_str(), text(scores.wrongSwitches).c_str(), scores.uncertain);
    if (scores.mattes) std::printf("  mIoU %.4f  MAD %.4f", scores.mattes->meanIou, scores.mattes->mad);
    if (scores.limbsLost) std::printf("  limbs lost %.4f, kept in %.4f", *scores.limbsLost, *scores.limbsKept);
    if (scores.thingsShown) std::printf("  things shown %.4f, in %.4f", *scores.thingsShown, *scores.thingsShownIn);
    std::puts("");
    std::fflush(stdout);
}

void EvaluateReport::endSize() {
    std::vector<MatteScores> all;
    Json& size = document_->size();
    for (const auto& [folder, scores] : byFolder_) {
        size["folders"][folder] = toJson(scores);
        all.insert(all.end(), scores.begin(), scores.end());
        if (byFolder_.size() > 1) row(folder, scores);
    }
    if (all.empty()) return;
    size["all"] = toJson(all);
    row("all", all);
}

void EvaluateReport::row(const std::string& name, const std::vector<MatteScores>& all) {
    if (json_) return;
    if (!headed_) {
        std::printf("%5s %-30s %6s", "size", "folder", "photos");
        for (const Column& column : kColumns) std::printf(" %7s", column.heading);
        std::printf(" %7s\n", "worst");
    }
    headed_ = true;
    std::printf("%5s %-30s %6zu", size_.c_str(), printable(name).c_str(), all.size());
    const MatteScores mean = meanScores(all);
    for (const Column& column : kColumns) std::printf(" %7.4f", mean.*column.measure);
    std::printf(" %7.4f\n", worstTenth(all));
    std::fflush(stdout);
    if (mean.band) bands_.push_back({size_, name, countBands(all), *mean.band});
}

void EvaluateReport::failed(const std::filesystem::path& path, const std::string& sentence) {
    document_->json["failures"].push_back({{"input", path.string()}, {"error", sentence}});
}

void EvaluateReport::bandTable() const {
    std::printf("in the unknown bands of soft mattes\n%5s %-30s %6s", "size", "folder", "photos");
    for (const BandColumn& column : kBandColumns) std::printf(" %7s", column.heading);
    std::puts("");
    for (const BandRow& row : bands_) {
        std::printf("%5s %-30s %6zu", row.size.c_str(), printable(row.folder).c_str(), row.photos);
        for (const BandColumn& column : kBandColumns) std::printf(" %7.4f", row.mean.*column.measure);
        std::puts("");
    }
}

void EvaluateReport::finish(int exitCode) {
    document_->json["exitCode"] = exitCode;
    if (!bands_.empty()) bandTable();
    if (json_) std::puts(document_->json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace matte
