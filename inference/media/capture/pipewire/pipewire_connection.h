// SPDX-License-Identifier: Apache-2.0
// A connection to PipeWire and the cameras that it shows, kept up to date on a thread of its own; and a camera's
// frames. Any thread may ask; an opened camera as frame_source.h says.
//   PipeWireConnection pipewire([] { postToWindow(); }, true);
//   pipewire.waitUntilKnown(2s);   pipewire.cameras();
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <pipewire/pipewire.h>

#include "inference/media/capture/camera.h"
#include "inference/media/frame_source.h"

namespace matte {

/// PipeWire asks the system for the user's name in a way that two threads may not do at once: whoever makes a context
/// or connects it holds this meanwhile. Starts PipeWire, too.
std::unique_lock<std::mutex> pipeWireAlone();

class PipeWireConnection {
public:
    /// Connects at once. `changed` is called on the connection's thread after the cameras or the connection changed.
    /// With `reconnects`, a daemon that is not there, or goes away, is looked for every second.
    explicit PipeWireConnection(std::function<void()> changed, bool reconnects);
    ~PipeWireConnection();
    PipeWireConnection(const PipeWireConnection&) = delete;
    PipeWireConnection& operator=(const PipeWireConnection&) = delete;

    [[nodiscard]] bool isConnected() const;
    /// Waits until the cameras that were there at the beginning are known with their modes; false when it took longer,
    /// or when there is no daemon. Throws Cancelled when `stop` was asked for.
    bool waitUntilKnown(std::chrono::milliseconds most, const std::stop_token& stop = {}) const;
    [[nodiscard]] std::vector<CameraInfo> cameras() const;
    /// PipeWire's name for the camera as it is plugged in now, empty when it isn't.
    [[nodiscard]] std::string serialOf(std::string_view id) const;
    [[nodiscard]] bool hasSerial(std::string_view serial) const;
    /// Why the camera with that serial can't be used, in PipeWire's words; empty when it can.
    [[nodiscard]] std::string faultOf(std::string_view serial) const;

    /// For streams. Their functions are called with the loop locked, or on its thread. `core` is null when not
    /// connected.
    [[nodiscard]] pw_thread_loop* loop() const { return loop_; }
    [[nodiscard]] pw_core* core() const { return core_; }

private:
    struct Node;
    struct Events;
    struct Known {
        CameraInfo camera;
        std::string serial, fault;
    };

    bool connect();
    [[nodiscard]] pw_core* connectCore() const;
    void disconnect();
    void retryLater();
    void addNode(std::uint32_t id, const spa_dict& properties);
    void removeNode(std::uint32_t id);
    void sync();
    void publish(bool complete);

    const std::function<void()> changed_;
    const bool reconnects_;

    // Used on the loop's thread, or with the loop locked.
    pw_thread_loop* loop_ = nullptr;
    pw_context* context_ = nullptr;
    pw_core* core_ = nullptr;
    pw_registry* registry_ = nullptr;
    spa_source* timer_ = nullptr;
    std::unique_ptr<Events> events_;
    std::map<std::uint32_t, std::unique_ptr<Node>> nodes_;
    int pending_ = 0, rounds_ = 0;

    mutable std::mutex mutex_;  // guards what anyone may ask for: the loop's thread writes it
    mutable std::condition_variable_any known_;
    std::vector<Known> cameras_;
    bool isConnected_ = false, isComplete_ = false;
};

/// Frames of a PipeWire camera, through shared memory; many programs may use such a camera at a time. Opens the camera
/// with that name or id, the first for an empty name, and waits until it has agreed on a format. Null when there is no
/// PipeWire here, or when it has no camera at all. Throws Error(source): no such camera, busy, forbidden, or silent.
std::unique_ptr<FrameSource> openPipeWireCamera(const std::string& name,
                                                const CaptureSettings& settings,
                                                const std::stop_token& stop = {});

/// What to say about a camera that can't be started, from the reason that PipeWire or the system gives.
std::string sentenceFor(const std::string& camera, const std::string& reason);

// Inside Flatpak and Snap the desktop's camera portal (org.freedesktop.portal.Camera, over D-Bus) gives access to
// PipeWire's cameras, after it has asked the user. Built with MATTE_HAVE_PORTAL.

/// Whether this program runs inside Flatpak or Snap.
bool isSandboxed();

/// Waits for the user's answer, or the one that the desktop remembers. Throws Error(source) when the cameras may not be
/// used, or when there is nobody to ask; Cancelled when `stop` was asked for.
void requestCameraAccess(const std::stop_token& stop);

/// A connection to PipeWire that shows the cameras alone, to be closed by the caller; -1 when access was not given to
/// this program since it started, or when the portal does not answer within two seconds.
int openCameraRemote();

}  // namespace matte
