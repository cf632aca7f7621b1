// SPDX-License-Identifier: Apache-2.0
// A program with CUDA in it, for whichever architectures, on a machine without a driver or a GPU: it starts, says why
// there is no GPU, and does its work on the CPU. Where there is a GPU it is hidden from the program.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/core/exit_code.h"
#include "inference/media/image/image_file.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/picture_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

using nlohmann::json;
using test::Outcome;
using test::runCli;

class WithoutGpu : public testing::Test {
protected:
    WithoutGpu() {
        test::writeModel(at("tiny.safetensors"), test::randomUNet({4, 8, 16}, 1));
        test::writeBytes(at("in.png"), test::encode(test::sixAreas({40, 30}), ".png"));
    }
    [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] Outcome image(const std::string& engine) const {
        return runCli({"image", at("in.png"), "-o", at("out.png"), "--model", at("tiny.safetensors"), "--size", "64",
                       "--json", "--engine", engine},
                      kHidden);
    }
    const std::map<std::string, std::string> kHidden{{"CUDA_VISIBLE_DEVICES", "-1"}};
    test::ScratchFolder folder_;
};

TEST_F(WithoutGpu, InfoSaysWhyThereIsNone) {
    const Outcome outcome = runCli({"info", "--json"}, kHidden);
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json facts = json::parse(outcome.out);
    const std::string reason = facts["cuda"]["unavailable"];
    EXPECT_FALSE(reason.empty());
    EXPECT_EQ(reason.back(), '.');
    EXPECT_TRUE(facts["cuda"]["devices"].empty());
    EXPECT_NE(runCli({"info"}, kHidden).out.find(reason), std::string::npos);
}

TEST_F(WithoutGpu, APhotoIsDoneOnTheCpuAndTheReasonTold) {
    const Outcome outcome = image("auto");
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    const json engine = json::parse(outcome.out)["engine"];
    EXPECT_EQ(engine["kind"], "cpu");
    EXPECT_EQ(engine["reason"], json::parse(runCli({"info", "--json"}, kHidden).out)["cuda"]["unavailable"]);
    EXPECT_EQ(readImage(at("out.png"))->size(), (Size{40, 30}));
}

TEST_F(WithoutGpu, AskedForByNameItIsRefusedWithTheReason) {
    const Outcome outcome = image("cuda");
    EXPECT_EQ(outcome.exitCode, kExitEngine);
    EXPECT_NE(outcome.err.find("The CUDA engine can't be used: "), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace matte
