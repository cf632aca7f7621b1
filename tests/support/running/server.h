// SPDX-License-Identifier: Apache-2.0
// A listener on this machine that a test may open as an address.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace matte::test {

/// Gives the file, when there is one, to the first who connects, all at once or over a time, and hangs up, or says
/// nothing more.
class Server {
public:
    explicit Server(const std::filesystem::path& path,
                    bool hangsUp = true,
                    std::chrono::milliseconds over = std::chrono::milliseconds(0))
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
        EXPECT_EQ(::listen(socket_, 1), 0);
        EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this, path, hangsUp, over](const std::stop_token& stop) {
            const int client = ::accept(socket_, nullptr, nullptr);
            std::ifstream file(path, std::ios::binary);
            const std::string bytes((std::istreambuf_iterator<char>(file)), {});
            constexpr std::size_t piece = 512;
            const auto begin = std::chrono::steady_clock::now();
            for (std::size_t sent = 0; sent < bytes.size() && !stop.stop_requested();) {
                const auto left = bytes.size() - sent;
                std::this_thread::sleep_until(begin + over * sent / bytes.size());  // paces
                const auto more =
                    ::send(client, bytes.data() + sent, over.count() ? std::min(piece, left) : left, MSG_NOSIGNAL);
                if (more <= 0) break;
                sent += std::size_t(more);
            }
            sent_.set_value();
            std::mutex mutex;
            std::unique_lock lock(mutex);
            if (!hangsUp) std::condition_variable_any().wait(lock, stop, [] { return false; });
            ::close(client);
        });
    }
    ~Server() {
        ::shutdown(socket_, SHUT_RDWR);
        thread_.request_stop();
        thread_.join();
        ::close(socket_);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    /// Until somebody has connected, and been given the whole file, or hung up. One thread.
    void waitUntilSent() const { isSent_.wait(); }
    [[nodiscard]] std::string address() const { return "tcp://127.0.0.1:" + std::to_string(port_); }

private:
    int socket_, port_ = 0;
    std::promise<void> sent_;
    std::future<void> isSent_ = sent_.get_future();
    std::jthread thread_;
};

}  // namespace matte::test
