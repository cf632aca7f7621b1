// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files/video_file.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include <opencv2/core.hpp>
#include <opencv2/videoio.hpp>

#include "inference/media/video/ffmpeg.h"

namespace matte::test {
namespace {

constexpr int kFirst = 25, kStep = 10, kMost = 20;  // levels of red
constexpr int kGreen = 100, kBlue = 170;

void check(bool done) {
    if (!done) throw std::runtime_error("FFmpeg can't do what a test needs");
}

ffmpeg::Input openInput(const std::filesystem::path& path) {
    AVFormatContext* input = nullptr;
    check(avformat_open_input(&input, path.c_str(), nullptr, nullptr) >= 0);
    ffmpeg::Input owner(input);
    check(avformat_find_stream_info(input, nullptr) >= 0);
    return owner;
}

AVFormatContext* openOutput(const std::filesystem::path& path, const AVFormatContext& from) {
    AVFormatContext* to = nullptr;
    check(avformat_alloc_output_context2(&to, nullptr, nullptr, path.c_str()) >= 0);
    AVStream* pictures = avformat_new_stream(to, nullptr);
    check(avcodec_parameters_copy(pictures->codecpar, from.streams[0]->codecpar) >= 0);
    pictures->codecpar->codec_tag = 0;
    return to;
}
void begin(AVFormatContext* to, const std::filesystem::path& path, bool isLive = false) {
    AVDictionary* options = nullptr;
    av_dict_set(&options, "movflags", "faststart", 0);  // the index comes first
    if (isLive) av_dict_set(&options, "live", "1", 0);
    check(avio_open(&to->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0 && avformat_write_header(to, &options) >= 0);
    av_dict_free(&options);
}
void end(AVFormatContext* to) {
    check(av_write_trailer(to) >= 0);
    avio_closep(&to->pb);
    avformat_free_context(to);
}

void copyPictures(AVFormatContext* from, AVFormatContext* to, double later, int missing) {
    const ffmpeg::Packet packet(av_packet_alloc());
    const AVRational its = from->streams[0]->time_base;
    for (int n = 0; av_read_frame(from, packet.get()) >= 0; ++n) {
        if (n < missing) {
            av_packet_unref(packet.get());
            continue;
        }
        const auto shift = std::int64_t(later / av_q2d(its));
        packet->pts += shift;
        packet->dts += shift;
        av_packet_rescale_ts(packet.get(), its, to->streams[0]->time_base);
        check(av_interleaved_write_frame(to, packet.get()) >= 0);
    }
}

void writeRamp(AVFormatContext* to, double seconds, int sharesTime) {
    constexpr int kSamples = 100;  // a packet
    const ffmpeg::Packet packet(av_packet_alloc());
    for (int first = 0; first < int(seconds * kSoundRate); first += kSamples) {
        check(av_new_packet(packet.get(), 2 * kSamples) >= 0);
        for (int i = 0; i < kSamples; ++i) {
            packet->data[2 * i] = std::uint8_t(first + i);
            packet->data[2 * i + 1] = std::uint8_t((first + i) >> 8);
        }
        packet->stream_index = 1;
        packet->pts = packet->dts = first / (kSamples * sharesTime) * (kSamples * sharesTime);
        packet->duration = kSamples;
        av_packet_rescale_ts(packet.get(), {1, kSoundRate}, to->streams[1]->time_base);
        check(av_interleaved_write_frame(to, packet.get()) >= 0);
    }
}

}  // namespace

std::filesystem::path writeVideo(const std::filesystem::path& path, int frames, double rate, Size size) {
    const std::string form = path.extension().string();
    const int codec = form == ".avi"   ? cv::VideoWriter::fourcc('M', 'J', 'P', 'G')
                      : form == ".mkv" ? cv::VideoWriter::fourcc('M', 'P', 'G', '2')
                                       : cv::VideoWriter::fourcc('m', 'p', '4', 'v');
    cv::VideoWriter writer(path.string(), cv::CAP_FFMPEG, codec, rate, cv::Size(size.width, size.height));
    if (!writer.isOpened()) throw std::runtime_error("can't write " + path.string());
    for (int n = 0; n < frames; ++n) {
        writer.write(
            cv::Mat(size.height, size.width, CV_8UC3, cv::Scalar(kBlue, kGreen, kFirst + kStep * (n % kMost))));
    }
    return path;
}

std::filesystem::path atTimes(const std::filesystem::path& video,
                              const std::filesystem::path& path,
                              const std::vector<double>& times,
                              double lastLasts) {
    const ffmpeg::Input from = openInput(video);
    AVFormatContext* to = openOutput(path, *from);
    begin(to, path);
    const ffmpeg::Packet packet(av_packet_alloc());
    const auto ticks = [&](double seconds) { return std::llround(seconds / av_q2d(to->streams[0]->time_base)); };
    for (std::size_t n = 0; n < times.size() && av_read_frame(from.get(), packet.get()) >= 0; ++n) {
        const bool isLast = n + 1 == times.size();
        packet->pts = packet->dts = ticks(times[n]);
        packet->duration = ticks(isLast ? lastLasts : times[n + 1] - times[n]);
        check(av_interleaved_write_frame(to, packet.get()) >= 0);
    }
    end(to);
    return path;
}

std::filesystem::path withSound(const std::filesystem::path& video,
                                const std::filesystem::path& path,
                                const SoundForm& form) {
    const ffmpeg::Input from = openInput(video);
    AVFormatContext* to = openOutput(path, *from);
    AVStream* sound = avformat_new_stream(to, nullptr);
    sound->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
    sound->codecpar->codec_id = AV_CODEC_ID_PCM_S16LE;
    sound->codecpar->format = AV_SAMPLE_FMT_S16;
    sound->codecpar->sample_rate = kSoundRate;
    av_channel_layout_default(&sound->codecpar->ch_layout, 1);
    sound->codecpar->bits_per_coded_sample = 16;
    sound->codecpar->block_align = 2;
    sound->time_base = {1, kSoundRate};
    begin(to, path, form.isLive);
    const double seconds = double(from->duration) / AV_TIME_BASE;
    copyPictures(from.get(), to, form.later, form.missing);
    writeRamp(to, seconds + form.later, form.sharesTime);
    end(to);
    return path;
}

std::vector<SoundPacket> soundOf(const std::filesystem::path& video) {
    const ffmpeg::Input input = openInput(video);
    const ffmpeg::Packet packet(av_packet_alloc());
    std::vector<SoundPacket> packets;
    const int sound = av_find_best_stream(input.get(), AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
    while (sound >= 0 && av_read_frame(input.get(), packet.get()) >= 0) {
        if (packet->stream_index == sound && packet->size >= 2) {
            const double unit = av_q2d(input->streams[sound]->time_base);
            packets.push_back({double(packet->pts) * unit, packet->data[0] | packet->data[1] << 8});
        }
        av_packet_unref(packet.get());
    }
    return packets;
}

int videoFrameIn(const Image& picture) {
    const bool bgr = picture.format() == PixelFormat::bgr8;
    const auto [width, height] = picture.size();
    const std::uint8_t* pixel = picture.row(height / 2) + std::ptrdiff_t(width / 2) * bytesPerPixel(picture.format());
    const int red = pixel[bgr ? 2 : 0], green = pixel[1], blue = pixel[bgr ? 0 : 2];
    if (std::abs(green - kGreen) > 12 || std::abs(blue - kBlue) > 12) return -1;
    return (red - kFirst + kStep / 2) / kStep;
}

}  // namespace matte::test
