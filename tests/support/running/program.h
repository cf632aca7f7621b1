// SPDX-License-Identifier: Apache-2.0
// Runs a real program, as a shell would, and keeps what it printed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace matte::test {

struct Outcome {
    int exitCode = -1;  ///< -1 when a signal ended it
    int signal = 0;
    std::string out, err;
};

class Program {
public:
    /// Starts `words[0]` with the rest as its arguments and `environment` added to this process's own.
    explicit Program(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {});
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void send(int signal) const;
    Outcome wait();

private:
    pid_t process_ = -1;
    int out_ = -1, err_ = -1;
};

/// matte-cli with these arguments.
Outcome runCli(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {});

}  // namespace matte::test
