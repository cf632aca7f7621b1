// SPDX-License-Identifier: Apache-2.0
// What FFmpeg may open for each scheme that an address may have: nothing of this machine.
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inference/media/source_spec.h"
#include "inference/media/video/ffmpeg.h"

namespace matte {
namespace {

using Names = std::vector<std::string>;

Names listOf(const std::string& address, const char* option, bool isAddress = true) {
    AVDictionary* options = nullptr;
    setRules(&options, address, isAddress);
    const AVDictionaryEntry* entry = av_dict_get(options, option, nullptr, 0);
    std::istringstream text(entry ? entry->value : "");
    av_dict_free(&options);
    Names names;
    for (std::string name; std::getline(text, name, ',');) names.push_back(name);
    return names;
}

bool has(const Names& names, const char* name) {
    return std::ranges::find(names, name) != names.end();
}

TEST(AddressRules, NoSchemeReachesThisMachine) {
    for (const std::string scheme : {"http", "https", "rtsp", "rtsps", "rtmp", "udp", "tcp", "srt"}) {
        ASSERT_NO_THROW((void)parseSource(scheme + "://h/a")) << "no scheme that people may write";
        const Names protocols = listOf(scheme + "://h/a", "protocol_whitelist");
        const Names forms = listOf(scheme + "://h/a", "format_whitelist");
        ASSERT_FALSE(protocols.empty()) << scheme;
        ASSERT_TRUE(has(forms, "mpegts") && has(forms, "matroska") && has(forms, "mov")) << scheme;
        for (const char* local : {"file", "pipe", "fd", "concat", "concatf", "subfile", "data", "cache", "async", "tee",
                                  "unix", "md5", "crypto+file", "ipfs", "gopher", "ftp", "sftp", "ALL"}) {
            EXPECT_FALSE(has(protocols, local)) << scheme << " " << local;
        }
        for (const char* list : {"concat", "sdp", "image2", "lavfi", "v4l2,video4linux2", "x11grab", "tty"}) {
            EXPECT_FALSE(has(forms, list)) << scheme << " " << list;
        }
        const bool isHttp = scheme.starts_with("http");
        EXPECT_EQ(has(forms, "hls"), isHttp) << scheme;
        EXPECT_EQ(has(forms, "dash"), isHttp) << scheme;
        EXPECT_EQ(has(protocols, "http"), isHttp) << scheme;
    }
}

TEST(AddressRules, WhatIsUnknownMayOpenNothing) {
    for (const char* address : {"gopher://h", "file:///etc/passwd", "concat:a|b", ""}) {
        EXPECT_EQ(listOf(address, "protocol_whitelist"), Names{"none"}) << address;
    }
}

TEST(AddressRules, AFileOpensFilesAlone) {
    EXPECT_EQ(listOf("/a.mp4", "protocol_whitelist", false), Names{"file"});
}

}  // namespace
}  // namespace matte
