// SPDX-License-Identifier: Apache-2.0
#include "inference/backends/create_engine.h"
#include "inference/tools/cli/commands.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "inference/core/error.h"
#include "inference/cpu/cpu_network.h"
#include "inference/cuda/device/devices.h"
#include "inference/engine/engine.h"
#include "inference/engine/self_test.h"
#include "inference/media/capture/camera_list.h"
#include "inference/media/image/image_file.h"
#include "inference/media/virtual_camera/virtual_camera.h"
#include "inference/model/default_model.h"
#include "inference/model/read_model.h"

namespace matte {
namespace {

using Json = nlohmann::ordered_json;

/// The value of the first line of /proc/cpuinfo that begins with `key`; empty where there is no such file.
std::string cpuFact(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
    }
    return {};
}

/// The instruction sets that decide how fast the network runs.
Json instructionSets() {
    Json found = Json::array();
    std::istringstream flags(cpuFact("flags"));
    for (std::string flag; flags >> flag;) {
        for (const char* name : {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16"}) {
            if (flag == name) found.push_back(name);
        }
    }
    return found;
}

Json cudaFacts(const CudaStatus& status) {
    Json devices = Json::array();
    for (const auto& device : status.devices) {
        devices.push_back(
            {{"name", device.name},
             {"computeCapability", std::to_string(device.computeMajor) + "." + std::to_string(device.computeMinor)},
             {"multiprocessors", device.multiprocessors},
             {"memoryBytes", device.memoryBytes}});
    }
    return {{"runtime", status.runtimeVersion},
            {"driver", status.driverVersion},
            {"unavailable", status.unavailable},
            {"devices", devices}};
}

Json modelFacts(const UNet& network, const std::filesystem::path& path) {
    Json widths = Json::array();  // of each level, from the picture's size down
    for (const auto& layer : network.layers()) {
        const int level = network.tensors()[std::size_t(layer.out)].level;
        if (level == int(widths.size())) widths.push_back(layer.filter.outChannels);
    }
    // A square shows the resolution best: the other shapes have fewer pixels.
    const Size input = network.inputSize({1024, 1024});
    return {{"path", path.string()},
            {"bytes", std::filesystem::file_size(path)},
            {"levels", network.levels()},
            {"widths", widths},
            {"longestSide", input.width},
            {"photoSide", network.photoInputSize({1024, 1024}).width},
            {"gflops", std::round(network.flops(input) / 1e7) / 100}};
}

Json cameraFacts() {
    const CameraList list;
    list.waitUntilKnown(std::chrono::seconds(2));
    Json cameras = Json::array();
    for (const auto& camera : list.cameras()) {
        Json modes = Json::array();
        for (const auto& mode : camera.modes) {
            modes.push_back({{"name", toString(mode)},
                             {"format", nameOf(mode.encoding)},
                             {"width", mode.size.width},
                             {"height", mode.size.height},
                             {"rates", mode.rates}});
        }
        cameras.push_back({{"name", camera.name}, {"id", camera.id}, {"modes", modes}});
    }
    return {{"system", list.system()}, {"list", cameras}};
}

/// What other programs can see; made for a moment and thrown away.
Json virtualCameraFacts() {
    Json facts{{"names", Json::array()}};
    try {
        facts["names"] = openVirtualCamera()->names();
    } catch (const Error& error) {
        facts["unavailable"] = error.what();
    }
    return facts;
}

/// An engine says by itself what it is, or why it can't be: it is made and thrown away.
Json engineFacts(const UNet& network, EngineKind kind) {
    Json facts{{"kind", kind == EngineKind::cpu ? "cpu" : "cuda"}};
    try {
        const EngineInfo info = createPhotoEngine(network, {.kind = kind})->info();
        facts["available"] = true;
        facts["name"] = info.name;
        facts["warnings"] = info.warnings;
    } catch (const Error& error) {
        facts["available"] = false;
        facts["unavailable"] = error.what();
    }
    return facts;
}

Json collect() {
    Json facts{{"version", MATTE_VERSION},
               {"libvips", vipsVersion()},
               {"onednn", CpuNetwork::libraryVersion()},
               {"processor",
                {{"name", cpuFact("model name")},
                 {"threads", std::thread::hardware_concurrency()},
                 {"instructionSets", instructionSets()}}},
               {"cuda", cudaFacts(queryCuda())},
               {"cameras", cameraFacts()},
               {"virtualCamera", virtualCameraFacts()},
               {"engines", Json::array()}};
    try {
        const auto path = defaultModel();
        const UNet network = loadNetwork("");
        facts["model"] = modelFacts(network, path);
        for (const auto kind : {EngineKind::cpu, EngineKind::cuda}) {
            facts["engines"].push_back(engineFacts(network, kind));
        }
    } catch (const Error& error) {
        facts["model"] = {{"unavailable", error.what()}};
    }
    return facts;
}

std::string text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const Json& list) {
    std::string all;
    for (const auto& item : list) {
        if (!all.empty()) all += ' ';
        all += text(item);
    }
    return all;
}

/// `parts` one after the other.
template <typename... Parts>
void printLine(const char* key, const Parts&... parts) {
    std::printf("%-11s%s\n", key, (text(parts) + ...).c_str());
}

void printCuda(const Json& cuda) {
    if (cuda["runtime"] != "") {
        const Json driver = cuda["driver"] == "" ? Json("none") : cuda["driver"];
        printLine("CUDA", "runtime ", cuda["runtime"], ", driver ", driver);
    }
    if (cuda["unavailable"] != "") printLine("", cuda["unavailable"]);
    int number = 0;
    for (const auto& device : cuda["devices"]) {
        printLine("Device", number++, ": ", device["name"], ", compute capability ", device["computeCapability"], ", ",
                  device["multiprocessors"], " multiprocessors, ", device["memoryBytes"].get<std::size_t>() >> 20,
                  " MiB");
    }
}

void printCameras(const Json& cameras) {
    if (cameras["list"].empty()) printLine("Camera", "none (", cameras["system"], ")");
    for (const auto& camera : cameras["list"]) {
        printLine("Camera", camera["name"], ", ", camera["id"], " (", cameras["system"], ")");
        for (const auto& mode : camera["modes"]) printLine("", mode["name"]);
    }
}

void printVirtualCamera(const Json& camera) {
    for (const auto& name : camera["names"]) printLine("Own camera", "“", name, "” in other programs");
    if (camera.contains("unavailable")) printLine("Own camera", camera["unavailable"]);
}

void printModel(const Json& model) {
    if (model.contains("unavailable")) return printLine("Model", model["unavailable"]);
    printLine("Model", model["path"]);
    printLine("", model["bytes"].get<std::size_t>() >> 10, " KiB, ", model["levels"], " levels of ",
              joined(model["widths"]), " channels, input ", model["longestSide"], " pixels (photos ",
              model["photoSide"], "), ", model["gflops"], " GFLOP for a square picture");
}

void printText(const Json& facts) {
    const Json& processor = facts["processor"];
    printLine("Matte", facts["version"]);
    printLine("libvips", facts["libvips"]);
    printLine("oneDNN", facts["onednn"]);
    printLine("Processor", processor["name"], ", ", processor["threads"], " threads, ",
              joined(processor["instructionSets"]));
    for (const auto& engine : facts["engines"]) {
        const bool available = engine["available"];
        printLine("Engine", engine["kind"], ": ", engine[available ? "name" : "unavailable"]);
        if (available && !engine["warnings"].empty()) printLine("", joined(engine["warnings"]));
    }
    printCuda(facts["cuda"]);
    printCameras(facts["cameras"]);
    printVirtualCamera(facts["virtualCamera"]);
    printModel(facts["model"]);
}

}  // namespace

ExitCode printKnownAnswer(const std::string& model) {
    CpuNetwork network(UNet::load(Safetensors::read(findModel(model))), CpuPrecision::f32);
    const KnownAnswer answer =
        answerOf(network.unet(), [&](const Image& picture) { return network.matteOf(picture.view()); });
    std::puts(answer.text().c_str());
    return kExitOk;
}

ExitCode runInfoCommand(bool json) {
    const Json facts = collect();
    if (json) {
        std::puts(facts.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    } else {
        printText(facts);
    }
    return kExitOk;
}

}  // namespace matte
