// SPDX-License-Identifier: Apache-2.0
// TaskGraph: oneDNN's primitives, and steps of our own, as tasks in the order of a network's layers, each for some rows
// of one layer: it begins when the rows that it reads are there, so that threads never wait for a whole layer, and none
// for a thread that has not begun. One thread at a time; run() uses those of inference/core/parallel.h.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "inference/core/parallel.h"
#include "inference/cpu/onednn.h"
#include "inference/cpu/rows.h"

namespace matte::onednn {

struct TaskGraph {
    /// A primitive with everything that it reads and writes; the scratchpad depends on who calls. Or a step of our own.
    struct Call {
        std::function<void()> step{};
        dnnl::primitive primitive{};
        std::vector<std::pair<int, memory>> arguments{};
        memory::desc scratchpad{};
    };
    struct Task {
        int layer = 0;            ///< index into UNet::layers(); the conversion of the input belongs to the first
        std::vector<Call> calls;  ///< one after another
        std::vector<int> needs;   ///< the tasks before whose rows it reads
    };
    /// What calculates which rows of a tensor.
    struct Writer {
        Rows rows;
        int task;
    };

    /// Removes everything; the tasks to come are made for the present number of threads.
    void clear();
    memory allocate(const memory::desc& described) {
        return {described, engine, buffers.emplace_back(described.get_size()).data()};
    }
    Task& begin(int layer) {
        tasks.emplace_back().layer = layer;
        return tasks.back();
    }
    /// The task that was begun last reads rows of a tensor, or writes them.
    void read(int tensor, Rows rows);
    void write(int tensor, Rows rows) { writers[std::size_t(tensor)].push_back({rows, int(tasks.size()) - 1}); }
    /// Calls to append to a task.
    template <typename Described>
    void call(Task& task,
              const std::string& name,
              const Described& described,
              dnnl::primitive primitive,
              std::vector<std::pair<int, memory>> arguments) {
        const std::string line = name + ": " + described.impl_info_str();
        if (!std::ranges::count(implementations, line)) implementations.push_back(line);
        task.calls.push_back({{}, std::move(primitive), std::move(arguments), described.scratchpad_desc()});
    }
    static void step(Task& task, std::function<void()> work) { task.calls.push_back({.step = std::move(work)}); }
    /// After the last task: gives each worker a scratchpad for the largest call, and each call its arguments in the
    /// form that oneDNN reads.
    void bind();
    /// Runs all tasks, or none any more once `stop` is triggered; fills taskMs if `timed`. Rethrows a task's exception.
    void run(bool timed, const std::stop_token& stop);

    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    int workers = 0;
    std::vector<Buffer> buffers;
    std::vector<std::vector<Writer>> writers;  ///< of each tensor
    std::vector<Task> tasks;
    std::vector<float> taskMs;
    std::vector<std::string> implementations;
    bool checked = false;  ///< run() looks for writes beyond the buffers

private:
    void calculate(std::size_t index, int worker);
    void perform(std::size_t index, int worker, bool timed, const std::stop_token& stop) noexcept;

    std::vector<Milestone> finished_;                  ///< of each task: the last run in which it was
    std::vector<std::vector<dnnl_exec_arg_t>> bound_;  ///< [worker x calls + call]: the arguments of all calls
    std::vector<std::size_t> firstCall_;               ///< of each task, among all
    std::vector<memory> scratchpads_;
    std::uint32_t runs_ = 0;
    std::mutex mutex_;
    std::exception_ptr error_;  ///< of this run; under the mutex
    std::atomic<bool> failed_ = false;
};

}  // namespace matte::onednn
