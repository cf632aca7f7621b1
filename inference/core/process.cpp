// SPDX-License-Identifier: Apache-2.0
#include "inference/core/process.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>

#include <execinfo.h>
#include <unistd.h>

#include "inference/core/exit_code.h"

namespace matte {
namespace {

const char* programName = "";
std::atomic<bool> memoryWasShort = false;

[[noreturn]] void refuseMemory() {
    memoryWasShort = true;
    throw std::bad_alloc();
}

/// Allocates nothing: memory may be what is missing. No destructor runs, for other threads go on until the end.
[[noreturn]] void endWith(std::initializer_list<const char*> sentence) {
    for (const char* part : sentence) {
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part, std::strlen(part));
    }
    ::_exit(kExitUnexpected);
}

[[noreturn]] void endUnexpectedly() {
    constexpr char kNoMemory[] = ": There is not enough memory: close other programs.\n";
    constexpr char kUnexpected[] = ": Something unexpected happened", kReport[] = ": please report it.\n";
    try {
        if (std::current_exception()) throw;
        if (memoryWasShort) endWith({programName, kNoMemory});
    } catch (const std::bad_alloc&) {
        endWith({programName, kNoMemory});
    } catch (const std::exception& error) {
        endWith({programName, kUnexpected, " (", error.what(), ")", kReport});
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
    endWith({programName, kUnexpected, kReport});
}

}  // namespace

void prepareProcess(const char* name) {
    programName = name;
    std::set_terminate(endUnexpectedly);
    std::set_new_handler(refuseMemory);
    // The C library loads its unwinder on first use, at the end of a thread, and aborts without memory: load it now.
    void* frame = nullptr;
    ::backtrace(&frame, 1);
    struct sigaction action {};
    action.sa_handler = [](int) {};  // not SIG_IGN, which the programs that are started from here would inherit
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace matte
