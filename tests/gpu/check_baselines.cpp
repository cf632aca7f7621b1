// SPDX-License-Identifier: Apache-2.0
// check_baselines [GoogleTest's options] | check_baselines lab …: the baselines' unit tests and `matte-cli lab` in one
// program that needs neither Qt nor OpenCV nor oneDNN, for machines that have a GPU and little else.
#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "inference/baselines/baselines.h"
#include "inference/core/error.h"
#include "inference/tools/cli/commands.h"

namespace matte::baselines {

std::unique_ptr<NetworkImplementation> makeOneDnn(const ModelPointer&) {
    throw Error(ErrorCategory::engine, whyNoOneDnn());
}

std::string whyNoOneDnn() {
    return "This program was built without oneDNN: build Matte with it.";
}

}  // namespace matte::baselines

int main(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "lab") {
        testing::InitGoogleTest(&argc, argv);
        return RUN_ALL_TESTS();
    }
    CLI::App app("The baselines alone", "check_baselines");
    matte::LabCommandOptions options;
    matte::addLabCommand(app, options);
    try {
        app.parse(argc, argv);
        return matte::runLabCommand(options, {});
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    } catch (const matte::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return matte::exitCodeOf(error.category);
    }
}
