// SPDX-License-Identifier: Apache-2.0
// The model file reader: what it reads, and every rule that a hostile file may break, one test each.
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/model/safetensors.h"
#include "tests/support/files/model_file.h"

namespace matte {
namespace {

using test::DataType;
using test::encodeSafetensors;
using test::rawSafetensors;

Safetensors parse(const std::vector<std::uint8_t>& bytes) {
    return Safetensors::parse(bytes, "file");
}

/// The sentence with which a file is refused; empty when it was taken.
std::string refusal(const std::vector<std::uint8_t>& bytes) {
    try {
        parse(bytes);
    } catch (const Error& error) {
        EXPECT_EQ(error.category, ErrorCategory::model);
        EXPECT_NE(std::string(error.what()).find("'file'"), std::string::npos) << "the sentence names the file";
        return error.what();
    }
    return "";
}

std::string refusal(const std::string& header, std::size_t dataBytes) {
    return refusal(rawSafetensors(header, std::vector<std::uint8_t>(dataBytes)));
}

testing::AssertionResult says(const std::string& sentence, const std::string& part) {
    if (sentence.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in: " << sentence;
}

TEST(Safetensors, ReadsWhatWasWritten) {
    const Safetensors file = parse(encodeSafetensors({{"a", {{2, 3}, {1, 2, 3, 4, 5, -6.5F}}}, {"b", {{1}, {0.25F}}}},
                                                     {{"architecture", "unet"}}));
    EXPECT_EQ(file.tensors().at("a").shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(file.tensors().at("a").values, (std::vector<float>{1, 2, 3, 4, 5, -6.5F}));
    EXPECT_EQ(file.tensors().at("b").values, std::vector<float>{0.25F});
    EXPECT_EQ(file.metadata().at("architecture"), "unet");
}

TEST(Safetensors, ReadsHalfPrecisionExactly) {
    // Largest, smallest normal, smallest subnormal, and the two zeros.
    const std::vector<float> values{65504, 0x1p-14F, 0x1p-24F, -0x1p-24F, 0.0F, -0.0F, 1.0009765625F, -2};
    const Safetensors file = parse(encodeSafetensors({{"h", {{8}, values}}}, {}, DataType::f16));
    const auto& read = file.tensors().at("h").values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(read[i], values[i]);
        EXPECT_EQ(std::signbit(read[i]), std::signbit(values[i]));
    }
}

TEST(Safetensors, KeepsInfinityAndNanOfHalfPrecision) {
    std::vector<std::uint8_t> data{0x00, 0x7C, 0x01, 0x7E};  // +infinity, NaN
    const auto file = parse(rawSafetensors(R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", data));
    EXPECT_TRUE(std::isinf(file.tensors().at("h").values[0]));
    EXPECT_TRUE(std::isnan(file.tensors().at("h").values[1]));
}

TEST(Safetensors, ReadsBrainFloats) {
    const Safetensors file = parse(encodeSafetensors({{"b", {{3}, {1, -3.5F, 0x1p100F}}}}, {}, DataType::bf16));
    EXPECT_EQ(file.tensors().at("b").values, (std::vector<float>{1, -3.5F, 0x1p100F}));
}

TEST(Safetensors, RefusesWhatIsTooShort) {
    EXPECT_TRUE(says(refusal(std::vector<std::uint8_t>{}), "too short"));
    EXPECT_TRUE(says(refusal(std::vector<std::uint8_t>(7)), "too short"));
}

TEST(Safetensors, RefusesAHeaderLengthBeyondTheFileOrTheLimit) {
    EXPECT_TRUE(says(refusal(rawSafetensors("{}", {}, 3)), "header length"));
    EXPECT_TRUE(says(refusal(rawSafetensors("{}", {}, std::numeric_limits<std::int64_t>::max())), "header length"));
    EXPECT_TRUE(says(refusal(rawSafetensors("{" + std::string(1 << 20, ' ') + "}")), "header length"));
}

TEST(Safetensors, RefusesAHeaderThatIsNoObject) {
    for (const char* header : {"[]", "nonsense", "{", "{\"a\":}", " {}", "", "{}x", "\xff\xfe"}) {
        EXPECT_TRUE(says(refusal(header, 0), "not a JSON object")) << header;
    }
}

TEST(Safetensors, RefusesAHeaderNestedWithoutEnd) {
    EXPECT_TRUE(says(refusal("{\"a\":" + std::string(100000, '['), 0), "not a JSON object"));
}

TEST(Safetensors, RefusesANameThatComesTwice) {
    const std::string a = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    EXPECT_TRUE(says(refusal("{\"a\":" + a + ",\"a\":" + a + "}", 4), "'a' twice"));
    const std::string inner = R"({"a":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})";
    EXPECT_TRUE(says(refusal(inner, 4), "'dtype' twice"));
}

TEST(Safetensors, RefusesOtherTypes) {
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", 8), "F32, F16 or BF16"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4), "F32, F16 or BF16"));
}

TEST(Safetensors, RefusesMissingMembers) {
    EXPECT_TRUE(says(refusal(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4), "no dtype"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), "no shape"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "no data_offsets"));
    EXPECT_TRUE(says(refusal(R"({"a":5})", 4), "no dtype"));
}

TEST(Safetensors, RefusesShapesThatOverflowOrExceedTheFile) {
    EXPECT_TRUE(
        says(refusal(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}})", 4), "larger"));
    EXPECT_TRUE(
        says(refusal(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4), "larger"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), "no whole number"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4), "no whole number"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0), "empty"));
}

TEST(Safetensors, RefusesOffsetsThatDoNotFit) {
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 4), "outside"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4), "outside"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,3]}})", 4), "does not fill"));
    EXPECT_TRUE(says(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4), "two data offsets"));
}

TEST(Safetensors, RefusesOverlapsGapsAndLeftovers) {
    const auto two = [](const char* first, const char* second) {
        return std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + first +
               R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}";
    };
    EXPECT_EQ(refusal(two("[0,4]", "[4,8]"), 8), "");
    EXPECT_TRUE(says(refusal(two("[0,4]", "[0,4]"), 8), "overlaps"));
    EXPECT_TRUE(says(refusal(two("[0,4]", "[2,6]"), 8), "overlaps"));
    EXPECT_TRUE(says(refusal(two("[0,4]", "[8,12]"), 12), "gap"));
    EXPECT_TRUE(says(refusal(two("[0,4]", "[4,8]"), 9), "belongs to no tensor"));
}

TEST(Safetensors, RefusesMetadataThatIsNoText) {
    EXPECT_TRUE(says(refusal(R"({"__metadata__":{"a":1}})", 0), "no text"));
    EXPECT_TRUE(says(refusal(R"({"__metadata__":[]})", 0), "no table"));
}

TEST(Safetensors, RefusesTooManyTensors) {
    std::string header = "{";
    for (int i = 0; i < 4097; ++i) header += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
    EXPECT_TRUE(says(refusal(header + "}", 0), "4096"));
}

TEST(Safetensors, SurvivesEveryTruncationAndBitFlipOfASmallFile) {
    const auto good = encodeSafetensors({{"a", {{2}, {1, 2}}}, {"b", {{1}, {3}}}}, {{"k", "v"}});
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_NE(refusal({good.begin(), good.begin() + std::ptrdiff_t(length)}), "") << "cut at " << length;
    }
    int taken = 0;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto flipped = good;
        flipped[bit / 8] ^= std::uint8_t(1 << bit % 8);
        taken += refusal(flipped).empty();  // a flip in a number or a name leaves a good file
    }
    EXPECT_GT(taken, 0);
}

TEST(Safetensors, SaysWhyAFileOnDiskCannotBeRead) {
    const auto sentence = [](const char* path) -> std::string {
        try {
            Safetensors::read(path);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_TRUE(says(sentence("/no/such/model.safetensors"), "no such file"));
    EXPECT_TRUE(says(sentence("/"), "not a file"));
}

}  // namespace
}  // namespace matte
