// SPDX-License-Identifier: Apache-2.0
// Makes FFmpeg fail in this process as a disk or a machine would: reads that end with an input/output error, encoders
// that don't open. One thread at a time.
//
//     const FaultyFfmpeg faulty({.file = 2, .read = 5});   // the fifth read of the second file that is opened
#pragma once

#include <string>

namespace matte::test {

struct FfmpegFault {
    int file = 0;              ///< whose reads fail: the how manieth that is opened from now on; 0: none
    int read = 0;              ///< the first that fails, counted from 1 when the file was opened
    bool onlyOnce = false;     ///< else all that follow
    std::string encoder = {};  ///< that does not open
};

class FaultyFfmpeg {
public:
    explicit FaultyFfmpeg(FfmpegFault fault);
    ~FaultyFfmpeg();  ///< All works again.
    FaultyFfmpeg(const FaultyFfmpeg&) = delete;
    FaultyFfmpeg& operator=(const FaultyFfmpeg&) = delete;
    /// Of the file so far, those that failed included; each is of 512 bytes at most.
    [[nodiscard]] static int reads();
};

}  // namespace matte::test
