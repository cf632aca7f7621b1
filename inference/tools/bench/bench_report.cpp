// SPDX-License-Identifier: Apache-2.0
#include "inference/tools/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "inference/cuda/device/devices.h"

namespace matte {
namespace {

using Json = nlohmann::ordered_json;

__attribute__((format(printf, 1, 2))) std::string format(const char* how, ...) {
    char line[400];
    std::va_list values;
    va_start(values, how);
    std::vsnprintf(line, sizeof line, how, values);
    va_end(values);
    return line;
}

std::string text(Size size) {
    return format("%dx%d", size.width, size.height);
}

std::string line(const std::string& name, const Spread& ms) {
    return format("%-12s %9.3f ms  (p10 %.3f, p90 %.3f)\n", name.c_str(), ms.median, ms.p10, ms.p90);
}

Json json(const Spread& ms) {
    return {{"p10", ms.p10}, {"median", ms.median}, {"p90", ms.p90}};
}

std::string dumped(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Null where shareOfLimit() has nothing.
Json shareOf(const LayerInfo& layer, const MachineRates& rates, double ms) {
    const auto share = shareOfLimit(layer.flops, layer.bytes, ms, rates);
    return share ? Json(*share) : Json();
}

Json layerJson(const NetworkBench& network, std::size_t i) {
    const LayerInfo& layer = network.layers[i];
    const Spread ms = spreadOf(network.layerMs[i]);
    return {{"name", layer.name},
            {"shape", layer.shape},
            {"kernel", layer.kernel},
            {"gflop", layer.flops / 1e9},
            {"bytes", layer.bytes},
            {"ms", json(ms)},
            {"gflopPerSecond", ms.median > 0 ? Json(layer.flops / ms.median / 1e6) : Json()},
            {"shareOfLimit", shareOf(layer, network.rates, ms.median)}};
}

std::string layerLine(const NetworkBench& network, std::size_t i) {
    const LayerInfo& layer = network.layers[i];
    const double ms = spreadOf(network.layerMs[i]).median;
    const Json share = shareOf(layer, network.rates, ms);
    const std::string percent = share.is_null() ? "" : format("%3.0f %%", 100 * share.get<double>());
    return format("  %-18s %-39s %8.2f GFLOP %9.4f ms %8.0f GFLOP/s  %5s  %s\n", layer.name.c_str(),
                  layer.shape.c_str(), layer.flops / 1e9, ms, ms > 0 ? layer.flops / ms / 1e6 : 0.0, percent.c_str(),
                  layer.kernel.c_str());
}

Json cudaJson() {
    const CudaStatus status = queryCuda();
    Json devices = Json::array();
    for (const CudaDevice& device : status.devices) devices.push_back(device.name);
    return {{"devices", devices},
            {"driver", status.driverVersion},
            {"runtime", status.runtimeVersion},
            {"unavailable", status.unavailable}};
}

Spread growthOf(const OverlayCost& cost) {
    std::vector<double> growths;
    for (std::size_t i = 0; i < cost.on.size(); ++i) growths.push_back(cost.on[i] / cost.off[i] - 1);
    return spreadOf(std::move(growths));
}

}  // namespace

Spread spreadOf(std::vector<double> values) {
    std::ranges::sort(values);
    const auto at = [&](double share) { return values[std::size_t(std::lround(share * double(values.size() - 1)))]; };
    return {at(0.1), at(0.5), at(0.9)};
}

std::string asText(const BenchReport& report, bool layers) {
    const NetworkBench& network = report.network;
    const Spread ms = spreadOf(network.ms);
    std::string out = format("Network      %s at %s, %.2f GFLOP\n", report.model.c_str(), text(report.input).c_str(),
                             report.modelFlops / 1e9);
    out += "on           " + network.runsOn + "\n";
    if (network.rates.flopsPerSecond > 0) {
        out += format("limit        %.2f TFLOP/s, %.0f GB/s (%s)\n", network.rates.flopsPerSecond / 1e12,
                      network.rates.bytesPerSecond / 1e9, network.rates.text.c_str());
    }
    out += line("network", ms);
    out += format("             %.0f GFLOP/s\n", report.modelFlops / ms.median / 1e6);
    for (std::size_t i = 0; layers && i < network.layers.size(); ++i) out += layerLine(network, i);
    out += format("\nFrame        %s by %s\n", text(report.frame).c_str(), report.engine.name.c_str());
    for (const auto& [name, values] : report.stages) out += line(name, spreadOf(values));
    out += line("whole", spreadOf(report.frameMs));
    out += format("             %.1f frames a second\n", report.framesPerSecond);
    for (const std::string& warning : report.engine.warnings) out += warning + "\n";
    if (!report.engine.reason.empty()) out += report.engine.reason + "\n";
    return out;
}

std::string asJson(const BenchReport& report) {
    const NetworkBench& network = report.network;
    Json layers = Json::array(), stages = Json::object();
    for (std::size_t i = 0; i < network.layers.size(); ++i) layers.push_back(layerJson(network, i));
    for (const auto& [name, values] : report.stages) stages[name] = json(spreadOf(values));
    const MachineRates& rates = network.rates;
    const Json document{{"version", MATTE_VERSION},
                        {"commit", MATTE_COMMIT},
                        {"cuda", cudaJson()},
                        {"network",
                         {{"model", report.model},
                          {"input", {report.input.width, report.input.height}},
                          {"gflop", report.modelFlops / 1e9},
                          {"runsOn", network.runsOn},
                          {"runs", network.ms.size()},
                          {"ms", json(spreadOf(network.ms))},
                          {"limit", rates.flopsPerSecond > 0 ? Json{{"gflopPerSecond", rates.flopsPerSecond / 1e9},
                                                                    {"bytesPerSecond", rates.bytesPerSecond},
                                                                    {"by", rates.text}}
                                                             : Json()},
                          {"layers", layers}}},
                        {"frame",
                         {{"size", {report.frame.width, report.frame.height}},
                          {"engine", report.engine.name},
                          {"reason", report.engine.reason},
                          {"warnings", report.engine.warnings},
                          {"frames", report.frameMs.size()},
                          {"stages", stages},
                          {"ms", json(spreadOf(report.frameMs))},
                          {"framesPerSecond", report.framesPerSecond}}}};
    return dumped(document);
}

std::string asText(const OverlayCost& cost) {
    constexpr double kBar = 0.03;
    const Spread growth = growthOf(cost);
    return format("Frame        %s by %s\n", text(cost.frame).c_str(), cost.engine.c_str()) +
           line("overlay off", spreadOf(cost.off)) + line("overlay on", spreadOf(cost.on)) +
           format(
               "growth       %+9.2f %%   (p10 %+.2f, p90 %+.2f of %zu pairs of turns of %d frames); it should stay "
               "below %.0f %%\n",
               100 * growth.median, 100 * growth.p10, 100 * growth.p90, cost.on.size(), cost.framesATurn, 100 * kBar);
}

std::string asJson(const OverlayCost& cost) {
    return dumped({{"version", MATTE_VERSION},
                   {"engine", cost.engine},
                   {"frame", {cost.frame.width, cost.frame.height}},
                   {"overlay",
                    {{"offMs", json(spreadOf(cost.off))},
                     {"onMs", json(spreadOf(cost.on))},
                     {"turns", cost.on.size()},
                     {"framesATurn", cost.framesATurn},
                     {"growthPercent", 100 * growthOf(cost).median}}}});
}

}  // namespace matte
