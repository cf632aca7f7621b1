// SPDX-License-Identifier: Apache-2.0
#include "inference/media/capture/pipewire/pipewire_connection.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <dbus/dbus.h>

#include "inference/core/error.h"

namespace matte {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPortal = "org.freedesktop.portal.Desktop";
constexpr const char* kObject = "/org/freedesktop/portal/desktop";
constexpr const char* kCamera = "org.freedesktop.portal.Camera";
constexpr const char* kRequest = "org.freedesktop.portal.Request";
constexpr int kStepMs = 20;  // how soon a stop is seen
/// For what the portal answers by itself; the user takes as long as they like.
constexpr std::chrono::seconds kAnswerTime{2};

std::atomic<bool> isGranted{false};

[[noreturn]] void refuseWithoutPortal() {
    throw Error(ErrorCategory::source,
                "The camera can't be asked for because this desktop has no camera portal: install xdg-desktop-portal, "
                "or use Matte outside Flatpak and Snap.");
}

struct UnrefMessage {
    void operator()(DBusMessage* message) const { dbus_message_unref(message); }
};
using Message = std::unique_ptr<DBusMessage, UnrefMessage>;

/// A connection of its own to the session's bus.
class Bus {
public:
    Bus() {
        dbus_threads_init_default();
        DBusError error = DBUS_ERROR_INIT;
        connection_ = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
        dbus_error_free(&error);
        if (!connection_) refuseWithoutPortal();
        dbus_connection_set_exit_on_disconnect(connection_, FALSE);
    }
    ~Bus() {
        dbus_connection_close(connection_);
        dbus_connection_unref(connection_);
    }
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;

    /// Our name, as it is in the paths of requests: "1_42".
    [[nodiscard]] std::string token() const {
        std::string name = dbus_bus_get_unique_name(connection_);
        name.erase(0, 1);
        for (char& c : name) {
            if (c == '.') c = '_';
        }
        return name;
    }
    void listenToResponses() const {
        const std::string rule =
            std::string("type='signal',sender='") + kPortal + "',interface='" + kRequest + "',member='Response'";
        dbus_bus_add_match(connection_, rule.c_str(), nullptr);  // without waiting for the answer
    }
    std::uint32_t send(DBusMessage& message) const {
        dbus_uint32_t serial = 0;
        if (!dbus_connection_send(connection_, &message, &serial)) throw std::bad_alloc();
        return serial;
    }

    /// The first message that is wanted; null when the bus has ended, or after `most`. Throws Cancelled.
    Message waitFor(const std::function<bool(DBusMessage&)>& isWanted,
                    std::optional<std::chrono::seconds> most,
                    const std::stop_token& stop) const {
        const auto begin = Clock::now();
        for (;;) {
            while (Message message{dbus_connection_pop_message(connection_)}) {
                if (isWanted(*message)) return message;
            }
            stopIfAsked(stop);
            if (most && Clock::now() - begin > *most) return nullptr;
            if (!dbus_connection_read_write(connection_, kStepMs)) return nullptr;
        }
    }
    Message replyTo(std::uint32_t serial, const std::stop_token& stop) const {
        return waitFor([&](DBusMessage& m) { return dbus_message_get_reply_serial(&m) == serial; }, kAnswerTime, stop);
    }

private:
    DBusConnection* connection_ = nullptr;
};

/// A call of the portal's with one argument: a dictionary with at most one text.
Message call(const char* method, const char* key = nullptr, const char* value = nullptr) {
    Message message(dbus_message_new_method_call(kPortal, kObject, kCamera, method));
    if (!message) throw std::bad_alloc();
    DBusMessageIter arguments, options;
    dbus_message_iter_init_append(message.get(), &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    if (key) {
        DBusMessageIter entry, variant;
        dbus_message_iter_open_container(&options, DBUS_TYPE_DICT_ENTRY, nullptr, &entry);
        dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
        dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "s", &variant);
        dbus_message_iter_append_basic(&variant, DBUS_TYPE_STRING, &value);
        dbus_message_iter_close_container(&entry, &variant);
        dbus_message_iter_close_container(&options, &entry);
    }
    dbus_message_iter_close_container(&arguments, &options);
    return message;
}

bool isError(const Message& reply) {
    return !reply || dbus_message_get_type(reply.get()) == DBUS_MESSAGE_TYPE_ERROR;
}

}  // namespace

bool isSandboxed() {
    std::error_code error;
    return std::getenv("SNAP") != nullptr || std::filesystem::exists("/.flatpak-info", error);
}

void requestCameraAccess(const std::stop_token& stop) {
    isGranted = false;
    const Bus bus;
    static std::atomic<int> requests{0};
    const std::string token = "matte" + std::to_string(++requests);
    // Listened to before the question: the answer may come before the reply that says where it will.
    bus.listenToResponses();
    std::string path = std::string(kObject) + "/request/" + bus.token() + "/" + token;
    const std::uint32_t serial = bus.send(*call("AccessCamera", "handle_token", token.c_str()));
    std::optional<std::uint32_t> answer;  // 0: yes
    bool isRefused = false;
    const auto isEnd = [&](DBusMessage& message) {
        if (dbus_message_get_reply_serial(&message) == serial) {
            isRefused = dbus_message_get_type(&message) == DBUS_MESSAGE_TYPE_ERROR;
            const char* handle = nullptr;  // older portals choose their own
            if (!isRefused && dbus_message_get_args(&message, nullptr, DBUS_TYPE_OBJECT_PATH, &handle, 0))
                path = handle;
            return isRefused;
        }
        if (!dbus_message_is_signal(&message, kRequest, "Response") || !dbus_message_has_path(&message, path.c_str())) {
            return false;
        }
        DBusMessageIter arguments;
        dbus_uint32_t code = 2;
        if (dbus_message_iter_init(&message, &arguments) &&
            dbus_message_iter_get_arg_type(&arguments) == DBUS_TYPE_UINT32) {
            dbus_message_iter_get_basic(&arguments, &code);
        }
        answer = code;
        return true;
    };
    const Message last = bus.waitFor(isEnd, std::nullopt, stop);
    const bool isForbidden = isRefused && dbus_message_is_error(last.get(), DBUS_ERROR_ACCESS_DENIED);
    if (!isForbidden && !answer) refuseWithoutPortal();
    if (isForbidden || *answer != 0) {
        throw Error(ErrorCategory::source,
                    "Matte may not use the camera: allow it in the system's privacy settings, and start again.");
    }
    isGranted = true;
}

int openCameraRemote() {
    if (!isGranted) return -1;
    try {
        const Bus bus;
        const Message reply = bus.replyTo(bus.send(*call("OpenPipeWireRemote")), {});
        int remote = -1;
        if (isError(reply) || !dbus_message_get_args(reply.get(), nullptr, DBUS_TYPE_UNIX_FD, &remote, 0)) return -1;
        return remote;
    } catch (const std::exception&) {  // the bus is gone
        return -1;
    }
}

}  // namespace matte
