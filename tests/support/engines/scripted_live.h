// SPDX-License-Identifier: Apache-2.0
// A live engine and a source that do what the test says: frames are one colour that tells their number, and the
// engine's pictures repeat it. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "inference/engine/engine.h"
#include "inference/media/frame_source.h"
#include "tests/support/running/gate.h"

namespace matte::test {

/// What happens to the engines made with it.
struct LiveScript {
    std::atomic<int> made = 0, submitted = 0, dropped = 0, resets = 0, mostUnderWay = 0;
    std::atomic<int> failTakes = 0;  ///< so many take() throw
    std::atomic<bool> failMaking = false;
    std::atomic<MatteFault> matteFault = MatteFault::none;  ///< of every frame
    std::atomic<bool> wrongFrame = false;                   ///< outputs say they are of another frame
    std::atomic<bool> smallerInput = false;                 ///< of the network: a warning says so
    std::atomic<bool> fineDetail = true;                    ///< is offered
    std::atomic<bool> lostDevice = false;                   ///< another engine has taken over, which can't be measured
    Gate submit, take;  ///< submit() and take() wait at them: a slow engine; open() both before its pipeline ends
    std::atomic<int> submitting = 0;  ///< so many submit() have begun
    std::atomic<int> slots = 2;
    std::atomic<int> asked = 0;      ///< info() was called so often
    std::atomic<int> rateSteps = 0;  ///< measureRates() was called so often; it takes three steps
};

/// Its pictures are opaque, or half transparent when the background is to be.
std::unique_ptr<LiveEngine> scriptedEngine(LiveScript& script);
/// What its frameMemory() gives: plain memory under a name of its own.
PixelMemory scriptedMemory();

/// Frames that the test pushes; read() waits for them.
class FrameFeed {
public:
    void push(int width = 8, int height = 4);
    void end();                                ///< read() returns null once the frames are used up
    void lose(const std::string& sentence);    ///< the next read() throws Error(source), once
    void refuse(const std::string& sentence);  ///< open() throws Error(source) until the sentence is empty
    [[nodiscard]] int opened() const { return opened_; }
    [[nodiscard]] int closed() const { return closed_; }
    [[nodiscard]] int refusals() const { return refusals_; }
    [[nodiscard]] std::unique_ptr<FrameSource> open();

private:
    class Source;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<Frame> frames_;
    std::string lost_, refused_;
    bool ended_ = false;
    int pushed_ = 0;
    std::atomic<int> opened_ = 0, closed_ = 0, refusals_ = 0;
};

/// The how manyeth frame that was pushed a picture of the scripted engine shows; -1 when it is no such picture.
int numberIn(const Picture& picture);

}  // namespace matte::test
