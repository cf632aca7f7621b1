// SPDX-License-Identifier: Apache-2.0
// What people may write after --source, and what they are told when it makes no sense.
#include <gtest/gtest.h>

#include "inference/error.h"
#include "inference/io/source_spec.h"

namespace matte {
namespace {

using Kind = SourceSpec::Kind;

TEST(SourceSpec, ReadsEachKind) {
    EXPECT_EQ(parseSource("camera"), (SourceSpec{Kind::camera, "", {}, 0}));
    EXPECT_EQ(parseSource("camera:Integrated Camera (2)"), (SourceSpec{Kind::camera, "Integrated Camera (2)", {}, 0}));
    EXPECT_EQ(parseSource("clips/me.mp4"), (SourceSpec{Kind::file, "clips/me.mp4", {}, 0}));
    EXPECT_EQ(parseSource("./camera"), (SourceSpec{Kind::file, "./camera", {}, 0}));
    EXPECT_EQ(parseSource("C:/clips/me.mp4"), (SourceSpec{Kind::file, "C:/clips/me.mp4", {}, 0}));
    EXPECT_EQ(parseSource("rtsp://host/live?a=1"), (SourceSpec{Kind::url, "rtsp://host/live?a=1", {}, 0}));
    EXPECT_EQ(parseSource("test:person"), (SourceSpec{Kind::test, "person", {1280, 720}, 30}));
    EXPECT_EQ(parseSource("test:person:640x480"), (SourceSpec{Kind::test, "person", {640, 480}, 30}));
    EXPECT_EQ(parseSource("test:person:1920x1080@59.94"), (SourceSpec{Kind::test, "person", {1920, 1080}, 59.94}));
    EXPECT_EQ(parseSource("test:person:1920x1080@max").rate, kUnthrottled);
}

TEST(SourceSpec, WritesWhatItReadsBack) {
    for (const char* text :
         {"camera", "camera:A", "camera:a:b", "camera:Kamera für Büro", "a.mp4", "/tmp/a b.mkv", "..",
          "http://h/x.m3u8", "test:person:16x16@1", "test:person:7680x4320@max", "test:person:641x479@29.97"}) {
        EXPECT_EQ(toString(parseSource(text)), text);
        EXPECT_EQ(parseSource(toString(parseSource(text))), parseSource(text));
    }
    EXPECT_EQ(toString(parseSource("test:person")), "test:person:1280x720@30");
}

TEST(SourceSpec, RefusesWithASentence) {
    using std::string_literals::operator""s;
    for (const std::string& text : {""s,
                                    "camera:"s,
                                    "test:"s,
                                    "test:cat"s,
                                    "test:person:"s,
                                    "test:person:x"s,
                                    "test:person:0x0"s,
                                    "test:person:-640x480"s,
                                    "test:person:640"s,
                                    "test:person:640x480@"s,
                                    "test:person:640x480@0"s,
                                    "test:person:640x480@nan"s,
                                    "test:person:640x480@inf"s,
                                    "test:person:640x480@30fps"s,
                                    "test:person:99999x99999"s,
                                    "test:person:640x480x3"s,
                                    "test:person:4294967936x480"s,
                                    "test:person:640x480@1e9"s,
                                    "file:///etc/passwd"s,
                                    "concat://a"s,
                                    "gopher://h/"s,
                                    "HTTP2://h/"s,
                                    "a\nb"s,
                                    "a\0b"s,
                                    "camera:\x1b[2J"s,
                                    std::string(4097, 'a')}) {
        try {
            (void)parseSource(text);
            ADD_FAILURE() << text << " is taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.area, Area::usage) << text;
            EXPECT_TRUE(std::string(error.what()).ends_with('.')) << error.what();
        }
    }
}

TEST(SourceSpec, AddressesAreShownWithoutTheirPasswords) {
    EXPECT_EQ(withoutPassword("rtsp://me:se:cr@et@camera.local:554/a@b?c=d:e@f"),
              "rtsp://me@camera.local:554/a@b?c=d:e@f");
    EXPECT_EQ(withoutPassword("http://cam/video?user=a&pwd=b&size=2#x"), "http://cam/video?user=a&pwd=...&size=2#x");
    EXPECT_EQ(withoutPassword("http://me:x@cam/?Password=&access_token=b"),
              "http://me@cam/?Password=...&access_token=...");
    for (const std::string address :
         {"rtsp://me@camera.local:554/", "http://cam/v?user=a&size=2&", "http://camera.local:80/a:b@c",
          "udp://@239.0.0.1:1234", "tcp://h:1", "://", "a:b@c", "", "http://[::1]:80/x", "rtsp://"}) {
        EXPECT_EQ(withoutPassword(address), address);
    }
}

}  // namespace
}  // namespace matte
