// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/pipewire/pipewire_connection.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "inference/core/error.h"
#include "inference/core/thread.h"
#include "inference/media/capture/pipewire/pipewire_format.h"
#include "inference/media/virtual_camera/virtual_camera.h"

namespace matte {
namespace {

constexpr timespec kRetry{1, 0};

std::string valueIn(const spa_dict& properties, const char* key) {
    const char* value = spa_dict_lookup(&properties, key);
    return value ? value : "";
}

/// Names come from other programs: what would break a line is left out.
std::string readable(std::string name) {
    return withoutControls(std::move(name)).substr(0, 200);
}

}  // namespace

std::unique_lock<std::mutex> pipeWireAlone() {
    static std::mutex mutex;
    std::unique_lock lock(mutex);
    static const bool started = (pw_init(nullptr, nullptr), true);
    static_cast<void>(started);
    return lock;
}

struct PipeWireConnection::Node {
    PipeWireConnection* owner = nullptr;
    pw_proxy* proxy = nullptr;
    spa_hook listener{};
    pw_node_events events{};
    Known known;
    std::uint32_t formatFlags = 0;
    bool askedForFormats = false;

    void readProperties(const spa_dict& properties) {
        const auto set = [&](std::string& target, const char* key) {
            if (std::string value = readable(valueIn(properties, key)); !value.empty()) target = std::move(value);
        };
        set(known.serial, PW_KEY_OBJECT_SERIAL);
        set(known.camera.id, PW_KEY_NODE_NAME);
        set(known.camera.name, PW_KEY_NODE_NAME);
        set(known.camera.name, PW_KEY_NODE_NICK);
        set(known.camera.name, PW_KEY_NODE_DESCRIPTION);
        if (known.camera.id.empty()) known.camera.id = known.serial;
        if (known.camera.name.empty()) known.camera.name = "Camera " + known.serial;
    }

    void onInfo(const pw_node_info& info) {
        if (info.props) readProperties(*info.props);
        known.fault = info.state != PW_NODE_STATE_ERROR ? "" : info.error ? readable(info.error) : "unknown";
        for (std::uint32_t i = 0; i < info.n_params; ++i) {
            const spa_param_info& param = info.params[i];
            // PipeWire turns a flag over when the formats have changed.
            if (param.id != SPA_PARAM_EnumFormat || (askedForFormats && param.flags == formatFlags)) continue;
            formatFlags = param.flags;
            askedForFormats = true;
            known.camera.modes.clear();
            pw_node_enum_params(reinterpret_cast<pw_node*>(proxy), 0, SPA_PARAM_EnumFormat, 0, UINT32_MAX, nullptr);
        }
        owner->sync();
    }

    void onFormat(const spa_pod* format) {
        for (auto& mode : readModes(format)) {
            auto& modes = known.camera.modes;
            if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(std::move(mode));
        }
    }
};

/// What PipeWire calls back, on the loop's thread.
struct PipeWireConnection::Events {
    pw_core_events core{};
    pw_registry_events registry{};
    spa_hook coreListener{}, registryListener{};
};

PipeWireConnection::PipeWireConnection(std::function<void()> changed, bool reconnects)
    : changed_(std::move(changed)), reconnects_(reconnects), events_(std::make_unique<Events>()) {
    events_->core.version = PW_VERSION_CORE_EVENTS;
    events_->core.done = [](void* data, std::uint32_t id, int seq) {
        calledBack<PipeWireConnection>(data, [&](auto& self) {
            if (id != PW_ID_CORE || seq != self.pending_) return;
            // After the first round every node is bound, after the second its formats are here.
            if (++self.rounds_ < 2) return self.sync();
            self.publish(true);
        });
    };
    events_->core.error = [](void* data, std::uint32_t id, int /*seq*/, int result, const char* /*message*/) {
        if (id != PW_ID_CORE || result != -EPIPE) return;
        calledBack<PipeWireConnection>(data, [](auto& self) { self.disconnect(); });
    };
    events_->registry.version = PW_VERSION_REGISTRY_EVENTS;
    events_->registry.global = [](void* data, std::uint32_t id, std::uint32_t /*permissions*/, const char* type,
                                  std::uint32_t /*version*/, const spa_dict* properties) {
        if (!properties || std::string_view(type) != PW_TYPE_INTERFACE_Node) return;
        calledBack<PipeWireConnection>(data, [&](auto& self) {
            if (!valueIn(*properties, PW_KEY_MEDIA_CLASS).starts_with("Video/Source")) return;
            if (valueIn(*properties, PW_KEY_NODE_NAME) == kVirtualCameraId) return;  // nobody films his own picture
            self.addNode(id, *properties);
        });
    };
    events_->registry.global_remove = [](void* data, std::uint32_t id) {
        calledBack<PipeWireConnection>(data, [&](auto& self) { self.removeNode(id); });
    };

    {
        const auto alone = pipeWireAlone();
        loop_ = pw_thread_loop_new("cameras", nullptr);
        if (!loop_) return;
        context_ = pw_context_new(pw_thread_loop_get_loop(loop_), nullptr, 0);
    }
    if (!context_) return;
    timer_ = pw_loop_add_timer(
        pw_thread_loop_get_loop(loop_),
        [](void* data, std::uint64_t /*expirations*/) {
            calledBack<PipeWireConnection>(data, [](auto& self) {
                if (!self.isConnected() && !self.connect()) self.retryLater();
            });
        },
        this);
    if (!connect()) retryLater();
    pw_thread_loop_start(loop_);
}

PipeWireConnection::~PipeWireConnection() {
    if (!loop_) return;
    pw_thread_loop_stop(loop_);
    for (auto& [id, node] : nodes_) pw_proxy_destroy(node->proxy);
    if (registry_) pw_proxy_destroy(reinterpret_cast<pw_proxy*>(registry_));
    if (core_) pw_core_disconnect(core_);
    if (timer_) pw_loop_destroy_source(pw_thread_loop_get_loop(loop_), timer_);
    if (context_) pw_context_destroy(context_);
    pw_thread_loop_destroy(loop_);
}

bool PipeWireConnection::connect() {
    if (core_) {  // what is left of a connection that broke
        for (auto& [id, node] : nodes_) pw_proxy_destroy(node->proxy);
        nodes_.clear();
        pw_proxy_destroy(reinterpret_cast<pw_proxy*>(registry_));
        pw_core_disconnect(core_);
        core_ = nullptr;
        registry_ = nullptr;
    }
    {
        const auto alone = pipeWireAlone();
        core_ = connectCore();
    }
    if (!core_) return false;
    events_->coreListener = {};
    events_->registryListener = {};
    pw_core_add_listener(core_, &events_->coreListener, &events_->core, this);
    registry_ = pw_core_get_registry(core_, PW_VERSION_REGISTRY, 0);
    pw_registry_add_listener(registry_, &events_->registryListener, &events_->registry, this);
    rounds_ = 0;
    {
        const std::lock_guard lock(mutex_);
        isConnected_ = true;
    }
    sync();
    return true;
}

/// A sandbox has its own way, and some have the usual one beside it.
pw_core* PipeWireConnection::connectCore() const {
#ifdef MATTE_HAVE_PORTAL
    if (isSandboxed()) {
        if (const int remote = openCameraRemote(); remote >= 0) {
            return pw_context_connect_fd(context_, remote, nullptr, 0);  // which closes it
        }
    }
#endif
    return pw_context_connect(context_, nullptr, 0);
}

void PipeWireConnection::disconnect() {
    {
        const std::lock_guard lock(mutex_);
        isConnected_ = isComplete_ = false;
        cameras_.clear();
    }
    known_.notify_all();
    if (changed_) changed_();
    retryLater();  // cleared up there: not in the middle of a callback
}

void PipeWireConnection::retryLater() {
    if (!reconnects_ || !timer_) return;
    timespec delay = kRetry;
    pw_loop_update_timer(pw_thread_loop_get_loop(loop_), timer_, &delay, nullptr, false);
}

void PipeWireConnection::addNode(std::uint32_t id, const spa_dict& properties) {
    auto node = std::make_unique<Node>();
    node->owner = this;
    node->readProperties(properties);
    node->proxy = static_cast<pw_proxy*>(pw_registry_bind(registry_, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0));
    if (!node->proxy) return;
    node->events.version = PW_VERSION_NODE_EVENTS;
    node->events.info = [](void* data, const pw_node_info* info) {
        calledBack<Node>(data, [&](auto& self) { self.onInfo(*info); });
    };
    node->events.param = [](void* data, int /*seq*/, std::uint32_t param, std::uint32_t /*index*/,
                            std::uint32_t /*next*/, const spa_pod* format) {
        if (param != SPA_PARAM_EnumFormat) return;
        calledBack<Node>(data, [&](auto& self) { self.onFormat(format); });
    };
    pw_node_add_listener(reinterpret_cast<pw_node*>(node->proxy), &node->listener, &node->events, node.get());
    nodes_[id] = std::move(node);
    sync();
}

void PipeWireConnection::removeNode(std::uint32_t id) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) return;
    pw_proxy_destroy(found->second->proxy);
    nodes_.erase(found);
    publish(isComplete_);
}

void PipeWireConnection::sync() {
    pending_ = pw_core_sync(core_, PW_ID_CORE, pending_);
}

void PipeWireConnection::publish(bool complete) {
    std::vector<CameraInfo> infos;
    std::map<std::string, const Known*> nodesById;
    for (const auto& [number, node] : nodes_) {
        CameraInfo info = node->known.camera;
        if (nodesById.contains(info.id)) info.id += "#" + node->known.serial;  // nobody makes them differ
        nodesById[info.id] = &node->known;
        sortBySize(info.modes);
        infos.push_back(std::move(info));
    }
    tellApart(infos);
    std::vector<Known> cameras;
    for (auto& info : infos) {
        const Known& node = *nodesById[info.id];
        cameras.push_back({std::move(info), node.serial, node.fault});
    }
    {
        const std::lock_guard lock(mutex_);
        isComplete_ = complete;
        cameras_ = std::move(cameras);
    }
    known_.notify_all();
    if (changed_) changed_();
}

bool PipeWireConnection::isConnected() const {
    const std::lock_guard lock(mutex_);
    return isConnected_;
}

bool PipeWireConnection::waitUntilKnown(std::chrono::milliseconds most, const std::stop_token& stop) const {
    std::unique_lock lock(mutex_);
    known_.wait_for(lock, stop, most, [&] { return isComplete_ || !isConnected_; });
    stopIfAsked(stop);
    return isComplete_;
}

std::vector<CameraInfo> PipeWireConnection::cameras() const {
    const std::lock_guard lock(mutex_);
    std::vector<CameraInfo> cameras;
    for (const auto& known : cameras_) cameras.push_back(known.camera);
    return cameras;
}

std::string PipeWireConnection::serialOf(std::string_view id) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(cameras_, id, [](const Known& known) { return known.camera.id; });
    return found == cameras_.end() ? "" : found->serial;
}

bool PipeWireConnection::hasSerial(std::string_view serial) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(cameras_, serial, &Known::serial) != cameras_.end();
}

std::string PipeWireConnection::faultOf(std::string_view serial) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(cameras_, serial, &Known::serial);
    return found == cameras_.end() ? "" : found->fault;
}

}  // namespace matte
