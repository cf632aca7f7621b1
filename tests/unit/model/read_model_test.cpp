// SPDX-License-Identifier: Apache-2.0
// A model that comes with the program is refused unless each of its bytes is as it was built.
#include <gtest/gtest.h>

#include "inference/core/sha256.h"
#include "inference/model/read_model.h"
#include "tests/support/files/model_file.h"
#include "tests/support/files/scratch_folder.h"
#include "tests/support/running/program.h"

namespace matte {
namespace {

TEST(Sha256, IsThatOfTheStandard) {
    const std::string text = "abc", longer(1'000'000, 'a');
    const auto sumOf = [](const std::string& bytes) {
        return sha256({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    };
    EXPECT_EQ(sumOf(text), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sumOf(longer), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(sumOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ReadModel, TakesTheProgramsOwn) {
    for (const char* word : {"", "portrait", "portrait-lite"}) EXPECT_GT(loadNetwork(word).levels(), 3) << word;
}

TEST(ReadModel, RefusesAModelOfTheProgramWithAnotherBit) {
    const test::ScratchFolder folder;
    std::filesystem::create_directories(folder / "models");
    const std::string photo = MATTE_RESOURCES "/samples/astronaut.png", out = (folder / "out.png").string();
    const std::map<std::string, std::string> data{{"MATTE_DATA", folder.path().string()}};
    for (const std::string model : {"portrait", "portrait-lite"}) {
        auto bytes = test::readBytes(MATTE_RESOURCES "/models/" + model + ".safetensors");
        bytes.back() ^= 1;  // so small a change that no matte would show it
        test::writeBytes(folder / ("models/" + model + ".safetensors"), bytes);
    }
    for (const std::vector<std::string>& model : {std::vector<std::string>{}, {"--model", "portrait-lite"}}) {
        std::vector<std::string> words{"image", photo, "-o", out, "--engine", "cpu"};
        words.insert(words.end(), model.begin(), model.end());
        const test::Outcome outcome = test::runCli(words, data);
        EXPECT_EQ(outcome.exitCode, 5);
        EXPECT_NE(outcome.err.find("is damaged, or belongs to another version of the program"), std::string::npos);
        EXPECT_NE(outcome.err.find("install the program again"), std::string::npos) << outcome.err;
    }
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_NE(test::runCli({"info"}, data).out.find("is damaged"), std::string::npos);
}

}  // namespace
}  // namespace matte
