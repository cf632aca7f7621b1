// SPDX-License-Identifier: Apache-2.0
#include "inference/baselines/live/switching_engine.h"

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
#include "inference/core/thread.h"
#include "inference/cpu/stage_timer.h"

namespace matte::baselines {
namespace {

using Clock = std::chrono::steady_clock;

/// At the network's own input, by what a small input took; at its own a pixel takes less.
constexpr double kFastMs = 500;
constexpr std::chrono::seconds kCompareAgain{1};     // so that comparing takes little of the frames' time
constexpr double kMeasuringMs = 150;                 // of runs on small inputs, before the first frame
constexpr std::chrono::milliseconds kCheckAgain{5};  // whether a run will end in time
constexpr Size kUsualShape{16, 9};                   // of pictures, as long as none is known

double msSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Of an input of zeros: what an implementation takes does not depend on the values. Throws Cancelled.
TimedRun timeAt(Size input, BaselineNetwork& network, const std::stop_token& stop) {
    network.configure(input);
    network.run(stop, nullptr);
    return {input, network.report().ms};
}

/// Nothing when that takes longer than `ms`, with what the network prepares for `input`: it is broken off then, or as
/// soon as it is plain.
std::optional<TimedRun> timeWithin(double ms, Size input, BaselineNetwork& network, const std::stop_token& stop) {
    const auto began = Clock::now();
    network.configure(input);
    const double left = ms - msSince(began);
    const auto running = Clock::now();
    std::stop_source late;
    const std::stop_callback asked(stop, [&] { late.request_stop(); });
    const auto watch = [&](const std::stop_token& over) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any woken;
        while (!over.stop_requested() && !late.stop_requested()) {
            if (isHopeless(msSince(running), network.begun(), left)) late.request_stop();
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

SwitchingEngine::SwitchingEngine(std::unique_ptr<LiveEngine> product,
                                 Setup setup,
                                 std::shared_ptr<ImplementationSwitch> implementations)
    : product_(std::move(product)), setup_(std::move(setup)), implementations_(std::move(implementations)) {
    // goOn()'s token is triggered by another choice.
    if (const Implementation* first = implementations_->chosen()) {
        run(build(*first, setup_, product_->info().kind, {}, implementations_->goOn()));
    }
}

SwitchingEngine::~SwitchingEngine() {
    stopBuilding_.request_stop();  // else building_ is waited for as long as a measuring run takes: seconds
}

EngineInfo SwitchingEngine::info() const {
    EngineInfo info = product_->info();
    const ImplementationStatus status = implementations_->status();
    if (!status.problem.empty()) info.warnings.push_back(status.problem);
    if (!now_.implementation) return info;
    EngineInfo byImplementation = now_.engine->info();
    byImplementation.reason = std::move(info.reason);
    byImplementation.fineDetail = false;
    // The name does not tell the input, for another name is another engine, whose statistics begin anew.
    if (!status.smaller.empty()) byImplementation.warnings.push_back(status.smaller);
    byImplementation.warnings.insert(byImplementation.warnings.end(), info.warnings.begin(), info.warnings.end());
    return byImplementation;
}

/// With a picture's size, everything is built for it, so that the first frame does not wait; without, by that frame.
SwitchingEngine::Built SwitchingEngine::build(
    const Implementation& implementation, const Setup& setup, EngineKind product, Size picture, std::stop_token stop) {
    Built built;
    built.implementation = &implementation;
    try {
        const ModelPointer model = setup.loadModel();
        auto network = std::make_unique<BaselineNetwork>(implementation, model);
        built.network = network.get();
        built.inputSettled = network->onGpu();
        EngineOptions options = setup.options;
        // Of this thread's runs, as CpuEngine::take() has it: what is measured here is what frames will take there.
        setThreads(options.threads);
        const InputChoice choice(model->unet, picture.pixels() > 0 ? picture : kUsualShape, options.networkLongestSide);
        network->stopBy(stop);
        built.engine = std::make_unique<CpuEngine>(std::move(network), options, "");  // tests the implementation
        const Size input = firstInput(*built.network, choice, stop);
        built.engine->setNetworkLongestSide(choice.longestSide(input));
        if (picture.pixels() > 0) built.network->configure(input);
        // Takes a fifth of a second, for which the first picture need not wait.
        built.preparing = std::async(std::launch::async, [=, precision = setup.options.precision] {
            setThreads(options.threads);
            auto reference = makeProductNetwork(product, precision, model);
            if (picture.pixels() > 0) reference->configure(input);
            return reference;
        });
    } catch (const Cancelled&) {
        built = {};
        built.implementation = &implementation;
        built.stopped = true;
    } catch (const std::exception& error) {
        built.problem = error.what();
    }
    return built;
}

void SwitchingEngine::startBuilding(const Implementation& implementation, Size picture) {
    const EngineKind product = product_->info().kind;
    inBuilding_ = &implementation;
    stopBuilding_ = {};
    const auto work = [&implementation, setup = setup_, product, picture, implementations = implementations_,
                       stop = stopBuilding_.get_token()] {
        Built built = build(implementation, setup, product, picture, stop);
        if (!built.stopped && implementations->chosen() == &implementation) implementations->makeWay();
        return built;
    };
    building_ = std::async(std::launch::async, work);
}

bool SwitchingEngine::ready() const {
    return building_.valid() && building_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Turns to what was chosen as soon as it can run and nothing is under way.
void SwitchingEngine::follow(Size picture) {
    const Implementation* wanted = implementations_->chosen();
    if (building_.valid() && wanted != inBuilding_) stopBuilding_.request_stop();  // nobody waits for it any more
    if (wanted == now_.implementation) return;
    if (!wanted) {
        if (underWay_ == 0) useProduct();
        return;
    }
    if (!building_.valid()) return startBuilding(*wanted, picture);
    if (underWay_ > 0 || !ready()) return;
    Built built = building_.get();
    if (built.implementation == wanted && !built.stopped) return run(std::move(built));
    startBuilding(*wanted, picture);  // another was chosen meanwhile, or another and then this one again
}

void SwitchingEngine::run(Built built) {
    if (built.stopped) return;
    if (!built.problem.empty()) return implementations_->failed(*built.implementation, built.problem);
    now_ = std::move(built);
    compared_ = {};
    now_.engine->timeLayers(timeLayers_);
    now_.network->stopBy(implementations_->begin(now_.implementation));
}

void SwitchingEngine::useProduct() {
    now_ = {};
#ifdef __GLIBC__
    malloc_trim(0);  // the system gets the implementation's memory back, which the allocator would keep
#endif
    product_->reset();  // what it remembers of earlier frames is old
    implementations_->begin(nullptr);
}

int SwitchingEngine::slots() const {
    const Implementation* wanted = implementations_->chosen();
    const bool turning = wanted != now_.implementation && (!wanted || ready());
    return turning && underWay_ > 0 ? underWay_ : live().slots();
}

bool SwitchingEngine::submit(const Frame& frame, const CompositeParams& params) {
    follow(frame.image->size());
    if (underWay_ >= slots()) return false;
    if (!now_.engine) {
        const bool taken = product_->submit(frame, params);
        underWay_ += taken ? 1 : 0;
        return taken;
    }
    ++underWay_;
    frame_ = {frame, params};
    CompositeParams atItsInput = params;
    atItsInput.fineDetail = false;  // how large an implementation's input is follows from its speed
    return now_.engine->submit(frame, atItsInput);
}

Output SwitchingEngine::take() {
    underWay_ = std::max(0, underWay_ - 1);
    if (!frame_) return product_->take();
    const Submitted again = *std::exchange(frame_, std::nullopt);
    try {
        Output output = now_.engine->take();
        measure(again.frame.image->size(), output);
        return output;
    } catch (const Cancelled&) {  // another choice, which need not wait for this frame
        now_.network->stopBy(implementations_->goOn());
        product_->reset();
        follow(again.frame.image->size());
    } catch (const std::exception& error) {
        implementations_->failed(*now_.implementation, error.what());
        useProduct();
    }
    product_->submit(again.frame, again.params);
    return product_->take();
}

void SwitchingEngine::measure(Size picture, Output& output) {
    const InputChoice choice(now_.network->unet(), picture, setup_.options.networkLongestSide);
    const TimedRun run{now_.network->size(), now_.network->report().ms};
    implementations_->measured(run, choice.own());
    const bool due = Clock::now() - compared_ >= kCompareAgain;
    const bool first = std::exchange(now_.first, false);  // a picture that does not wait for the comparison
    if (due && !first) compare(output);
    settleInput(run, choice);
}

/// The first frames tell better than what was measured before them, beside the product's frames: the input grows as
/// long as there is room, and becomes smaller once when a frame took too long.
void SwitchingEngine::settleInput(const TimedRun& run, const InputChoice& choice) {
    if (now_.inputSettled) return;
    const Size next = choice.within(kFrameMs, run);
    now_.inputSettled = next.pixels() <= run.input.pixels();
    if (next == run.input || (now_.inputSettled && run.ms <= kTooLongMs)) return;
    now_.engine->setNetworkLongestSide(choice.longestSide(next));
    compared_ = {};
}

/// The product's network on the input that the implementation has just had.
void SwitchingEngine::compare(Output& output) {
    try {
        if (!hasReference()) return;
        const StageTimer timer(output.times, "compare");
        runReference();
    } catch (const std::exception&) {
        now_.reference.reset();  // for want of memory, for instance: the implementation runs all the same
    }
    compared_ = Clock::now();
}

bool SwitchingEngine::hasReference() {
    const bool prepared =
        now_.preparing.valid() && now_.preparing.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (prepared) now_.reference = now_.preparing.get();
    return now_.reference != nullptr;
}

void SwitchingEngine::runReference() {
    HostNetwork &implementation = *now_.network, &product = *now_.reference;
    product.configure(implementation.size());
    const std::size_t pixels = implementation.size().pixels();
    std::copy_n(implementation.input(), 3 * pixels, product.input());
    const auto begin = Clock::now();
    product.run({}, nullptr);
    implementations_->compared(msSince(begin), difference({product.alpha(), pixels}, {implementation.alpha(), pixels}));
}

void SwitchingEngine::drop() {
    frame_.reset();
    underWay_ = 0;
    product_->drop();
    if (now_.engine) now_.engine->drop();
}

void SwitchingEngine::reset() {
    frame_.reset();
    underWay_ = 0;
    product_->reset();
    if (!now_.engine) return;
    now_.engine->reset();
    now_.inputSettled = now_.network->onGpu();  // the next source's pictures may have another shape
}

/// For an implementation of the GPU the engine around it would measure the processor.
std::optional<MachineRates> SwitchingEngine::measureRates() {
    const bool gpu = now_.implementation && now_.implementation->where == Where::gpu;
    return gpu ? MachineRates{} : live().measureRates();
}

void SwitchingEngine::timeLayers(bool on) {
    timeLayers_ = on;
    product_->timeLayers(on);
    if (now_.engine) now_.engine->timeLayers(on);
}

}  // namespace matte::baselines
