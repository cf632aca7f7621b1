// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/baseline_engine.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "inference/core/parallel.h"
#include "inference/core/stopwatch.h"
#include "inference/core/thread.h"

namespace matte::baselines {
namespace {

using Clock = std::chrono::steady_clock;

/// At the network's own input, by what a small input took; at its own a pixel takes less.
constexpr double kFastMs = 500;
constexpr std::chrono::seconds kCompareAgain{1};     // so that comparing takes little of the frames' time
constexpr double kMeasuringMs = 150;                 // of runs on small inputs, before the first frame
constexpr std::chrono::milliseconds kCheckAgain{5};  // whether a run will end in time
constexpr Size kUsualShape{16, 9};                   // of pictures, as long as none is known

/// Of an input of zeros: what an implementation takes does not depend on the values. Throws Cancelled.
TimedRun timeAt(Size input, BaselineNetwork& network, const std::stop_token& stop) {
    network.configure(input);
    network.run(stop, nullptr);
    return {input, network.report().ms};
}

/// Nothing when that takes longer than `ms`, with what the network prepares for `input`: it is broken off then, or as
/// soon as it is plain.
std::optional<TimedRun> timeWithin(double ms, Size input, BaselineNetwork& network, const std::stop_token& stop) {
    const Stopwatch whole;
    network.configure(input);
    const double left = ms - whole.ms();
    const Stopwatch running;
    std::stop_source late;
    const std::stop_callback asked(stop, [&] { late.request_stop(); });
    const auto watch = [&](const std::stop_token& over) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any woken;
        while (!over.stop_requested() && !late.stop_requested()) {
            if (isHopeless(running.ms(), network.begun(), left)) late.request_stop();
            woken.wait_for(lock, over, kCheckAgain, [] { return false; });
        }
    };
    const std::jthread clock = startThread("timing the implementation", ErrorCategory::engine, watch, untold);
    try {
        return timeAt(input, network, late.get_token());
    } catch (const Cancelled&) {
        if (stop.stop_requested()) throw;
        return std::nullopt;
    }
}

/// At which `network` gives its first frame. A tiny input takes more for each pixel than the network's own, so an
/// implementation that seems too slow there is measured again on a larger one, as far as time allows.
Size firstInput(BaselineNetwork& network, const InputChoice& choice, const std::stop_token& stop) {
    if (network.onGpu()) return choice.own();  // milliseconds; and on a tiny input only launches are measured
    const std::optional<TimedRun> tiny = timeWithin(kMeasuringMs, choice.smallest(), network, stop);
    if (!tiny) return choice.smallest();
    TimedRun last = *tiny;
    for (double left = kMeasuringMs - last.ms; choice.within(kFastMs, last) != choice.own(); left -= last.ms) {
        const Size larger = choice.within(left, last);
        if (larger.pixels() <= last.input.pixels()) return choice.within(kFirstFrameMs, last);
        last = timeAt(larger, network, stop);
    }
    return choice.own();
}

}  // namespace

BaselineEngine::BaselineEngine(const Implementation& implementation,
                               const Product& product,
                               EngineKind kind,
                               std::shared_ptr<ImplementationSwitch> implementations,
                               Size picture,
                               const std::stop_token& stop)
    : implementations_(std::move(implementations)), networkLongestSide_(product.options.networkLongestSide) {
    const ModelPointer model = product.loadModel();
    auto network = std::make_unique<BaselineNetwork>(implementation, model);
    network_ = network.get();
    inputSettled_ = network->onGpu();
    // Of this thread's runs, as CpuEngine::take() has it: what is measured here is what frames will take there.
    setThreads(product.options.threads);
    const InputChoice choice(model->unet, picture.pixels() > 0 ? picture : kUsualShape, networkLongestSide_);
    network->stopBy(stop);
    engine_ = std::make_unique<CpuEngine>(std::move(network), product.options, "");  // tests the implementation
    const Size input = firstInput(*network_, choice, stop);
    engine_->setNetworkLongestSide(choice.longestSide(input));
    // With a picture's size, everything is built for it, so that the first frame does not wait; without, by that frame.
    if (picture.pixels() > 0) network_->configure(input);
    // Takes a fifth of a second, for which the first picture need not wait.
    preparing_ = std::async(std::launch::async, [=, options = product.options] {
        setThreads(options.threads);
        auto reference = makeProductNetwork(kind, options.precision, model);
        if (picture.pixels() > 0) reference->configure(input);
        return reference;
    });
}

BaselineEngine::~BaselineEngine() {
    preparing_ = {};  // waits
    reference_.reset();
    engine_.reset();
#ifdef __GLIBC__
    malloc_trim(0);  // the system gets the implementation's memory back, which the allocator would keep
#endif
}

EngineInfo BaselineEngine::info() const {
    EngineInfo info = engine_->info();
    info.fineDetail = false;
    // The name does not tell the input, for another name is another engine, whose statistics begin anew.
    if (std::string smaller = implementations_->status().smaller; !smaller.empty())
        info.warnings.push_back(std::move(smaller));
    return info;
}

bool BaselineEngine::submit(const Frame& frame, const CompositeParams& params) {
    CompositeParams atItsInput = params;
    atItsInput.fineDetail = false;  // how large an implementation's input is follows from its speed
    if (!engine_->submit(frame, atItsInput)) return false;
    picture_ = frame.image->size();
    return true;
}

Output BaselineEngine::take() {
    Output output = engine_->take();
    measure(output);
    return output;
}

void BaselineEngine::measure(Output& output) {
    const InputChoice choice(network_->unet(), picture_, networkLongestSide_);
    const TimedRun run{network_->size(), network_->report().ms};
    implementations_->measured(run, choice.own());
    const bool due = Clock::now() - compared_ >= kCompareAgain;
    const bool first = std::exchange(first_, false);  // a picture that does not wait for the comparison
    if (due && !first) compare(output);
    settleInput(run, choice);
}

/// The first frames tell better than what was measured before them, beside the product's frames: the input grows as
/// long as there is room, and becomes smaller once when a frame took too long.
void BaselineEngine::settleInput(const TimedRun& run, const InputChoice& choice) {
    if (inputSettled_) return;
    const Size next = choice.within(kFrameMs, run);
    inputSettled_ = next.pixels() <= run.input.pixels();
    if (next == run.input || (inputSettled_ && run.ms <= kTooLongMs)) return;
    engine_->setNetworkLongestSide(choice.longestSide(next));
    compared_ = {};
}

/// The product's network on the input that the implementation has just had.
void BaselineEngine::compare(Output& output) {
    try {
        if (!hasReference()) return;
        const StageTimer timer(output.times, Stage::compare);
        runReference();
    } catch (const std::exception&) {
        reference_.reset();  // for want of memory, for instance: the implementation runs all the same
    }
    compared_ = Clock::now();
}

bool BaselineEngine::hasReference() {
    const bool prepared =
        preparing_.valid() && preparing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (prepared) reference_ = preparing_.get();
    return reference_ != nullptr;
}

void BaselineEngine::runReference() {
    HostNetwork &implementation = *network_, &product = *reference_;
    product.configure(implementation.size());
    const std::size_t pixels = implementation.size().pixels();
    std::copy_n(implementation.input(), 3 * pixels, product.input());
    const Stopwatch watch;
    product.run({}, nullptr);
    implementations_->compared(watch.ms(), difference({product.alpha(), pixels}, {implementation.alpha(), pixels}));
}

void BaselineEngine::reset() {
    engine_->reset();
    inputSettled_ = network_->onGpu();  // the next source's pictures may have another shape
}

/// For an implementation of the GPU the engine around it would measure the processor.
std::optional<MachineRates> BaselineEngine::measureRates() {
    return network_->onGpu() ? MachineRates{} : engine_->measureRates();
}

}  // namespace matte::baselines
