// SPDX-License-Identifier: Apache-2.0
#include "inference/core/process.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>

#include <execinfo.h>
#include <unistd.h>

#include "inference/core/exit_code.h"

namespace matte {
namespace {

const char* programName = "";
std::atomic<bool> memoryWasShort = false;

void say(const char* text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void refuseMemory() {
    memoryWasShort = true;
    throw std::bad_alloc();
}

/// Allocates nothing: memory may be what is missing. No destructor runs, for other threads go on until the end.
[[noreturn]] void endUnexpectedly() {
    const auto sayMemory = [] {
        say(programName);
        say(": There is not enough memory: close other programs.\n");
        ::_exit(kExitUnexpected);
    };
    const bool hasException = std::current_exception() != nullptr;
    if (!hasException && memoryWasShort) sayMemory();
    try {
        if (hasException) throw;
        say(programName);
        say(": Something unexpected happened");
    } catch (const std::bad_alloc&) {
        sayMemory();
    } catch (const std::exception& error) {
        say(programName);
        say(": Something unexpected happened");
        say(" (");
        say(error.what());
        say(")");
    } catch (...) {
        say(programName);
        say(": Something unexpected happened");
    }
    say(": please report it.\n");
    ::_exit(kExitUnexpected);
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
