// SPDX-License-Identifier: Apache-2.0
// lab network: the whole network by every implementation, against what PyTorch dumped or, without a dump, against the
// same sums in double precision.
#include <algorithm>
#include <cmath>

#include "inference/baselines/lab/lab_measure.h"
#include "inference/core/error.h"
#include "inference/core/stopwatch.h"

namespace matte::baselines {
namespace {

/// The course's figures: seconds of a whole network, differences of each block, copies of each block.
double courseSeconds(std::string_view implementation) {
    if (implementation == "cpu-onednn") return 0.7206525802612305;  // PyTorch on their CPU
    return implementation == "gpu-resident" ? 0.979292631149292 : NAN;
}

struct CourseBlock {
    const char* name;
    double mean, maximum;
    int copies, fewerCopies;
};
constexpr CourseBlock kCourseBlocks[] = {{"down1", NAN, NAN, 12, 1},      {"down2", NAN, NAN, 16, 0},
                                         {"down3", NAN, NAN, 16, 0},      {"down4", NAN, NAN, 16, 0},
                                         {"down5", 0.0, 7e-6, 16, 0},     {"up1", 1.4e-5, 9.22e-4, 16, 1},
                                         {"up2", 1.6e-5, 7.47e-4, 16, 1}, {"up3", 1.6e-5, 8.87e-4, 16, 1},
                                         {"up4", 2.8e-5, 7.70e-4, 16, 1}, {"out", 5.04e-4, 1.1502e-2, 2, 1}};

const CourseBlock* courseBlock(const std::string& name) {
    const auto found =
        std::ranges::find_if(kCourseBlocks, [&](const CourseBlock& block) { return block.name == name; });
    return found == std::end(kCourseBlocks) ? nullptr : found;
}

/// A block of the network, and the tensor that holds what it gives.
struct BlockOutput {
    std::string name;
    int tensor;
};

/// down5, up1, up2, … and out: those whose differences the course tells.
std::vector<BlockOutput> comparedBlocks(const UNet& unet) {
    std::vector<BlockOutput> blocks;
    for (const Conv& layer : unet.layers()) {
        const std::string block = layer.name.substr(0, layer.name.find('.'));
        if (block.starts_with("down") && block != "down" + std::to_string(unet.levels())) continue;
        if (blocks.empty() || blocks.back().name != block) blocks.push_back({block, layer.out});
        blocks.back().tensor = layer.out;  // its last layer's
    }
    return blocks;
}

struct Subject {
    ModelPointer model;
    Size size;
    std::string title;
    std::vector<float> input;                  ///< [H, W, 3]
    std::vector<std::vector<float>> expected;  ///< of each compared block, [h, w, channels]
    std::string reference;                     ///< what the expected values are
};

const Safetensors::Tensor& dumped(const Safetensors& dump, const std::string& name) {
    const auto found = dump.tensors().find(name);
    if (found == dump.tensors().end()) {
        throw Error(ErrorCategory::model, "The dump '" + dump.name() + "' has no '" + name +
                                              "': make it with tests/reference/dump_network.py.");
    }
    return found->second;
}

/// unet….safetensors and unet…_activations.safetensors of a folder.
Subject dumpedSubject(const std::filesystem::path& folder) {
    const std::string name = std::filesystem::exists(folder / "unet_course.safetensors") ? "unet_course" : "unet_five";
    Subject subject;
    subject.model = std::make_shared<const Model>(Model::load(Safetensors::read(folder / (name + ".safetensors"))));
    const Safetensors dump = Safetensors::read(folder / (name + "_activations.safetensors"));
    const auto& input = dumped(dump, "input");
    if (input.shape.size() != 3 || input.shape[2] != 3)
        throw Error(ErrorCategory::model, "The dump's input is no [H, W, 3]: make it anew.");
    subject.size = {int(input.shape[1]), int(input.shape[0])};
    subject.input = input.values;
    for (const BlockOutput& block : comparedBlocks(subject.model->unet)) {
        subject.expected.push_back(dumped(dump, block.name).values);
    }
    const auto version = dump.metadata().find("torch");
    subject.reference = "PyTorch " + (version == dump.metadata().end() ? std::string() : version->second);
    return subject;
}

/// A U-Net with random weights or the options' model, judged by the CPU's sums in double precision.
Subject computedSubject(const LabOptions& options) {
    Subject subject;
    subject.model =
        std::make_shared<const Model>(options.model.empty() ? Model::random({64, 128, 256, 512, 1024}, 1)
                                                            : Model::load(Safetensors::read(options.model)));
    subject.size = subject.model->unet.inputSize(options.size, options.size.longest());
    subject.input = uniform(subject.size.pixels() * 3, 2);
    announce(options, "the network in double precision");
    const auto network = makeNetwork(implementationNamed("cpu-parallel"), subject.model);
    network->configure(subject.size);
    std::vector<float> alpha(subject.size.pixels());
    network->run(subject.input, alpha);
    for (const BlockOutput& block : comparedBlocks(subject.model->unet)) {
        subject.expected.push_back(network->activation(block.tensor));
    }
    subject.reference = "the same sums in double precision";
    return subject;
}

struct NetworkRow {
    RunReport report;
    double firstMs = 0;  ///< from nothing to the first alpha: what switching to the implementation takes
    std::vector<std::vector<float>> actual;  ///< of each compared block
};

NetworkRow runImplementation(const Implementation& implementation, const Subject& subject, const LabOptions& options) {
    const Stopwatch first;
    const auto network = makeNetwork(implementation, subject.model);
    network->configure(subject.size);
    std::vector<float> alpha(subject.size.pixels());
    NetworkRow row;
    const auto run = [&] { row.report = network->run(subject.input, alpha); };
    if (implementation.where == Where::gpu) run();  // loads the kernels
    row.firstMs = first.ms();
    std::vector<double> all, compute;
    do {
        run();
        if (implementation.where == Where::cpu && all.empty()) row.firstMs += row.report.ms;
        all.push_back(row.report.ms);
        compute.push_back(row.report.computeMs);
    } while (hasTimeAfter(all, options));
    row.report.ms = median(std::move(all));
    row.report.computeMs = median(std::move(compute));
    for (const BlockOutput& block : comparedBlocks(subject.model->unet)) {
        row.actual.push_back(block.name == "out" ? alpha : network->activation(block.tensor));
    }
    return row;
}

/// Every weight and every activation once, written and read.
double bytesOf(const UNet& unet, Size size, int valueBytes) {
    double values = 0;
    for (const Tensor& tensor : unet.tensors()) {
        values += 2.0 * double(tensor.channels) * (size.width >> tensor.level) * (size.height >> tensor.level);
    }
    for (const Conv& layer : unet.layers()) values += double(layer.filter.weights.size());
    return values * valueBytes;
}

void addTransfers(Table& table, const std::vector<std::pair<const Implementation*, RunReport>>& reports) {
    table.columns = {"Block", "Course, original", "Course, optimized"};
    for (const auto& [implementation, report] : reports) table.columns.emplace_back(implementation->name);
    if (reports.empty()) return;
    std::vector<double> sums(reports.size());
    const auto& blocks = reports.front().second.transfers;
    const auto courseCopies = [](const std::string& name, int CourseBlock::*which) {
        const CourseBlock* theirs = courseBlock(name);
        return number(theirs ? std::optional<double>(theirs->*which) : std::nullopt);
    };
    for (const BlockTransfers& block : blocks) {
        std::vector<Cell> cells{block.block, courseCopies(block.block, &CourseBlock::copies),
                                courseCopies(block.block, &CourseBlock::fewerCopies)};
        for (std::size_t i = 0; i < reports.size(); ++i) {
            double copies = 0;
            for (const BlockTransfers& mine : reports[i].second.transfers) {
                if (mine.block == block.block) copies = mine.in + mine.out;
            }
            sums[i] += copies;
            cells.push_back(number(copies));
        }
        table.rows.push_back(std::move(cells));
    }
    std::vector<Cell> total{"Total", number(142), number(6)};
    for (const double sum : sums) total.push_back(number(sum));
    table.rows.push_back(std::move(total));
    table.notes.emplace_back("Alpha's own way back to the host is not counted: in the window it stays on the device.");
}

}  // namespace

std::vector<Table> labNetwork(const LabOptions& options) {
    const Subject subject = options.dump.empty() ? computedSubject(options) : dumpedSubject(options.dump);
    const UNet& unet = subject.model->unet;
    const auto blocks = comparedBlocks(unet);
    const std::string size = std::to_string(subject.size.width) + "x" + std::to_string(subject.size.height);
    Table times{"network",
                "The whole network, " + size + ", against " + subject.reference,
                {"Implementation", "Course s", "First ms", "Ours ms", "Compute ms", "GFLOP/s", "Of the limit",
                 "Copies in", "Copies out", "Mean", "Maximum", "NMSE"}};
    Table differences{"blocks",
                      "Differences of each block from " + subject.reference + ", " + size,
                      {"Block", "Implementation", "Mean", "Course's mean", "Maximum", "Course's maximum", "NMSE"}};
    Table transfers{"transfers", "Copies between host and device, " + size, {}};
    std::vector<std::pair<const Implementation*, RunReport>> reports;
    std::vector<std::vector<std::vector<Cell>>> rowsOfBlock(blocks.size());
    for (const Implementation* implementation : chosenImplementations(options)) {
        if (!implementation->network) continue;
        const std::string name(implementation->name);
        if (const std::string why = whyUnavailable(*implementation); !why.empty()) {
            std::vector<Cell> empty{name, number(courseSeconds(name)), cellUnless(why, times, {})};
            empty.resize(times.columns.size(), Cell("-"));
            times.rows.push_back(std::move(empty));
            continue;
        }
        announce(options, "network " + name);
        const NetworkRow row = runImplementation(*implementation, subject, options);
        if (implementation->where == Where::gpu) reports.emplace_back(implementation, row.report);
        int in = 0, out = 0;
        for (const BlockTransfers& block : row.report.transfers) in += block.in, out += block.out;
        const double ms = row.report.computeMs, flops = unet.flops(subject.size);
        const double bytes = bytesOf(unet, subject.size, implementation->tensorCores ? 2 : 4);
        const Difference end = difference(subject.expected.back(), row.actual.back());
        const bool gpu = implementation->where == Where::gpu;
        times.rows.push_back({name, number(courseSeconds(name)), number(row.firstMs), number(row.report.ms), number(ms),
                              number(flops / ms / 1e6),
                              shareOfLimit(implementation->where, flops, bytes, ms, implementation->tensorCores),
                              gpu ? number(in) : Cell("-"), gpu ? number(out) : Cell("-"), number(end.mean),
                              number(end.maximum), number(end.nmse)});
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (row.actual[i].empty()) continue;
            const Difference d = difference(subject.expected[i], row.actual[i]);
            const CourseBlock* theirs = courseBlock(blocks[i].name);
            rowsOfBlock[i].push_back({blocks[i].name, name, number(d.mean), number(theirs ? theirs->mean : NAN),
                                      number(d.maximum), number(theirs ? theirs->maximum : NAN), number(d.nmse)});
        }
    }
    for (auto& rows : rowsOfBlock) std::ranges::move(rows, std::back_inserter(differences.rows));
    addTransfers(transfers, reports);
    addLimits(times, options);
    times.notes.emplace_back(
        "First: from nothing to the first alpha, which is what switching to an implementation takes.");
    times.notes.emplace_back(
        "Course: 0.72 s is PyTorch on their CPU (0.77 s in their second run), 0.98 s Numba on an RTX 4060 Laptop "
        "(1.57 s).");
    differences.notes.emplace_back("An implementation that uses its memory again keeps only the output.");
    std::vector<Table> tables{std::move(times), std::move(differences)};
    if (!transfers.rows.empty()) tables.push_back(std::move(transfers));
    return tables;
}

}  // namespace matte::baselines
