// SPDX-License-Identifier: Apache-2.0
#include "inference/core/mailbox.h"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace matte {
namespace {

using namespace std::chrono_literals;

TEST(Mailbox, GivesTheNewestValueOnce) {
    Mailbox<int> mailbox;
    mailbox.put(1);
    mailbox.put(2);
    int value = 0;
    EXPECT_TRUE(mailbox.take(value, 0ms, {}));
    EXPECT_EQ(value, 2);
    EXPECT_FALSE(mailbox.take(value, 0ms, {}));
    EXPECT_EQ(value, 2);
}

TEST(Mailbox, GivesTheWriterTheMemoryOfWhatWasReplaced) {
    Mailbox<std::unique_ptr<int>> mailbox;
    auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
    const int* memory = first.get();
    mailbox.put(first);
    EXPECT_EQ(first, nullptr);
    mailbox.put(second);
    EXPECT_EQ(second.get(), memory);
}

TEST(Mailbox, WaitsForAnotherThread) {
    Mailbox<int> mailbox;
    const std::jthread writer([&] { mailbox.put(7); });
    int value = 0;
    mailbox.take(value, {});
    EXPECT_EQ(value, 7);
}

TEST(Mailbox, AFailureTakesThePlaceOfWhatWasNotTakenAndTheFirstStays) {
    Mailbox<int> mailbox;
    mailbox.throwFailure();
    mailbox.put(1);
    mailbox.fail(std::make_exception_ptr(Error(ErrorCategory::source, "The camera is gone.")));
    mailbox.fail(std::make_exception_ptr(Error(ErrorCategory::source, "Something else.")));
    int value = 0;
    const auto told = [&]() -> std::string {
        try {
            mailbox.take(value, {});
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(told(), "The camera is gone.");
    EXPECT_EQ(told(), "The camera is gone.") << "and again";
    EXPECT_THROW(mailbox.throwFailure(), Error);
    EXPECT_EQ(value, 0);
}

TEST(Mailbox, AStopEndsTheWait) {
    Mailbox<int> mailbox;
    std::stop_source stop;
    int value = 0;
    const std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_THROW(mailbox.take(value, stop.get_token()), Cancelled);
    mailbox.put(1);
    EXPECT_THROW(mailbox.take(value, 1h, stop.get_token()), Cancelled) << "also where there is a value";
}

}  // namespace
}  // namespace matte
