// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/task_graph.h"

#include <algorithm>
#include <chrono>

#include "inference/core/error.h"

namespace matte::onednn {

void TaskGraph::clear() {
    buffers.clear(), tasks.clear(), writers.clear(), implementations.clear();
    bound_.clear(), firstCall_.clear(), scratchpads_.clear();
    workers = threads();
}

void TaskGraph::read(int tensor, Rows rows) {
    std::vector<int>& needs = tasks.back().needs;
    for (const Writer& writer : writers[std::size_t(tensor)]) {
        const bool meets = writer.rows.first < rows.last && rows.first < writer.rows.last;
        if (meets && !std::ranges::count(needs, writer.task)) needs.push_back(writer.task);
    }
}

void TaskGraph::bind() {
    finished_ = std::vector<Milestone>(tasks.size());
    runs_ = 0;
    taskMs.resize(tasks.size());
    std::vector<Call*> calls;
    memory::desc largest;
    for (Task& task : tasks) {
        firstCall_.push_back(calls.size());
        for (Call& one : task.calls) {
            calls.push_back(&one);
            if (one.scratchpad.get_size() > largest.get_size()) largest = one.scratchpad;
        }
    }
    for (int worker = 0; worker < workers; ++worker) {
        const memory whole = allocate(largest);
        scratchpads_.push_back(whole);
        for (Call* one : calls) {
            auto& arguments = bound_.emplace_back();
            for (const auto& [argument, value] : one->arguments) arguments.push_back({argument, value.get()});
            if (one->scratchpad.get_size() == 0) continue;
            scratchpads_.emplace_back(one->scratchpad, engine, whole.get_data_handle());
            arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpads_.back().get()});
        }
    }
}

void TaskGraph::calculate(std::size_t index, int worker) {
    const Task& task = tasks[index];
    const std::size_t calls = bound_.size() / std::size_t(workers);
    const auto* arguments = bound_.data() + std::size_t(worker) * calls + firstCall_[index];
    for (const Call& one : task.calls) {
        const auto& bindings = *arguments++;
        if (one.step) {
            one.step();
            continue;
        }
        dnnl::error::wrap_c_api(
            dnnl_primitive_execute(one.primitive.get(), stream.get(), int(bindings.size()), bindings.data()),
            "could not execute a primitive");
    }
}

/// On any of the run's threads. Always marks the task as finished, because others wait for it.
void TaskGraph::perform(std::size_t index, int worker, bool timed, const std::stop_token& stop) noexcept {
    for (const int before : tasks[index].needs) {
        finished_[std::size_t(before)].await(runs_);
    }
    if (!failed_.load(std::memory_order_relaxed) && !stop.stop_requested()) {
        const auto start = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
        try {
            const OneThread one;
            calculate(index, worker);
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!error_) error_ = std::current_exception();
            failed_ = true;
        }
        if (timed) {
            taskMs[index] = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count();
        }
    }
    finished_[index].reach(runs_);
}

void TaskGraph::run(bool timed, const std::stop_token& stop) {
    const AtMostThreads most(workers);  // there may be more by now than the tasks were made for
    ++runs_;
    error_ = nullptr;
    failed_ = false;
    parallelFor(int(tasks.size()), 1,
                [&](int index, int, int worker) { perform(std::size_t(index), worker, timed, stop); });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (checked && !std::ranges::all_of(buffers, &Buffer::isIntact)) {
        throw Error(ErrorCategory::engine, "A kernel of oneDNN wrote beyond its memory.");
    }
}

}  // namespace matte::onednn
