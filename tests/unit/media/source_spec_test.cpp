// SPDX-License-Identifier: Apache-2.0
// What people may write after --source, and what they are told when it makes no sense.
#include <gtest/gtest.h>

#include "inference/core/error.h"
#include "inference/media/source_spec.h"

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
            EXPECT_EQ(error.category, ErrorCategory::usage) << text;
            EXPECT_TRUE(std::string(error.what()).ends_with('.')) << error.what();
        }
    }
}

TEST(SourceSpec, AddressesAreShownWithoutWhatLetsSomebodyIn) {
    EXPECT_EQ(shownAddress("rtsp://me:se:cr@et@camera.local:554/a@b/live?c=d:e@f"), "rtsp://camera.local:554/…/live");
    EXPECT_EQ(shownAddress("http://TOKEN@cam/video.mjpg?sig=a&jwt=b#x"), "http://cam/video.mjpg");
    EXPECT_EQ(shownAddress("https://cam?token=a/b"), "https://cam");
    EXPECT_EQ(shownAddress("http://cam#token"), "http://cam");
    EXPECT_EQ(shownAddress("srt://h:9000?streamid=publish/secret&passphrase=x"), "srt://h:9000");
    EXPECT_EQ(shownAddress("rtmp://live.host/app/secret-key"), "rtmp://live.host/app/…");
    EXPECT_EQ(shownAddress("rtmp://live.host/key?a=b"), "rtmp://live.host/…");
    EXPECT_EQ(shownAddress("rtsp://h/user=admin&password=a/stream1"), "rtsp://h/…/stream1");
    EXPECT_EQ(shownAddress("http://h/0123456789abcdef0123456789abcdef0/a.m3u8"), "http://h/…/a.m3u8");
    EXPECT_EQ(shownAddress("http://h/pass%3Dword/a"), "http://h/…/a");
    EXPECT_EQ(shownAddress("udp://@239.0.0.1:1234"), "udp://239.0.0.1:1234");
    EXPECT_EQ(shownAddress("http://a\\b/x"), "http://…/x");
    for (const std::string address : {"rtsp://camera.local:554/", "http://camera.local:80/a/b.m3u8", "tcp://h:1",
                                      "http://[::1]:80/x", "rtsp://", "http://h//a"}) {
        EXPECT_EQ(shownAddress(address), address);
    }
    for (const char* none : {"", "://secret", "me:secret@host"}) EXPECT_EQ(shownAddress(none), "…");
}

}  // namespace
}  // namespace matte
