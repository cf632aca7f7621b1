// SPDX-License-Identifier: Apache-2.0
// What is slow to make is made once and used again, here with things that count themselves.
#include <gtest/gtest.h>

#include <thread>

#include "inference/core/buffer_pool.h"

namespace matte {
namespace {

int made = 0, alive = 0;

struct Thing {
    explicit Thing(std::size_t count) : count_(count) { ++made, ++alive; }
    ~Thing() { --alive; }
    Thing(const Thing&) = delete;
    Thing& operator=(const Thing&) = delete;
    [[nodiscard]] std::size_t bytes() const { return count_; }

private:
    std::size_t count_;
};

class BufferPoolTest : public testing::Test {
protected:
    void SetUp() override { made = alive = 0; }
    std::shared_ptr<BufferPool<Thing>> pool_ = std::make_shared<BufferPool<Thing>>(2);
};

TEST_F(BufferPoolTest, GivesWhatNobodyHasAgain) {
    for (int i = 0; i < 100; ++i) {
        const auto one = pool_->take(8), two = pool_->take(8);
        EXPECT_NE(one, two);
    }
    EXPECT_EQ(made, 2);
}

TEST_F(BufferPoolTest, NeverGivesWhatSomebodyHas) {
    const auto held = pool_->take(8);
    for (int i = 0; i < 10; ++i) EXPECT_NE(pool_->take(8), held);
}

TEST_F(BufferPoolTest, LetsOtherSizesGoWhenANewOneIsWanted) {
    pool_->take(8);
    EXPECT_EQ(alive, 1);
    const auto larger = pool_->take(16);
    EXPECT_EQ(alive, 1) << "both may not fit";
    EXPECT_EQ(larger->bytes(), 16U);
}

TEST_F(BufferPoolTest, KeepsNoMoreThanItWasTold) {
    { const auto a = pool_->take(8), b = pool_->take(8), c = pool_->take(8); }
    EXPECT_EQ(alive, 2);
    pool_->clear();
    EXPECT_EQ(alive, 0);
}

TEST_F(BufferPoolTest, WhatItGaveMayOutliveIt) {
    auto held = pool_->take(8);
    pool_.reset();
    EXPECT_EQ(held->bytes(), 8U);
    std::thread other([&] { held.reset(); });
    other.join();
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace matte
