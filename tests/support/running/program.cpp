// SPDX-License-Identifier: Apache-2.0
#include "tests/support/running/program.h"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace matte::test {
namespace {

std::string contents(int file) {
    std::string text(std::size_t(::lseek(file, 0, SEEK_END)), '\0');
    if (::pread(file, text.data(), text.size(), 0) != ssize_t(text.size())) throw std::runtime_error("can't read back");
    return text;
}

}  // namespace

// The output goes to memory files, not to pipes, which a program that prints much would fill and wait on.
Program::Program(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ < 0 || out_ < 0 || err_ < 0) throw std::runtime_error("can't start " + words.at(0));
    if (process_ != 0) return;
    ::signal(SIGINT, SIG_DFL);  // a shell that runs the tests in the background has it ignored
    ::dup2(out_, STDOUT_FILENO);
    ::dup2(err_, STDERR_FILENO);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

Program::~Program() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
}

void Program::send(int signal) const {
    ::kill(process_, signal);
}

Outcome Program::wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    Outcome outcome;
    if (WIFEXITED(status)) outcome.exitCode = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    outcome.out = contents(out_);
    outcome.err = contents(err_);
    return outcome;
}

Outcome runCli(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment) {
    arguments.insert(arguments.begin(), MATTE_CLI);
    return Program(arguments, environment).wait();
}

}  // namespace matte::test
