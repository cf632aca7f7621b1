// SPDX-License-Identifier: Apache-2.0
#include "gui/app/termination.h"

#include <QSocketNotifier>

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace matte {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

volatile std::sig_atomic_t writeEnd = -1;

/// In a handler hardly anything may be called; the event loop does the rest.
void tell(int) {
    const int before = errno;
    [[maybe_unused]] const ssize_t written = ::write(writeEnd, "", 1);
    errno = before;
}

void setHandler(void (*handler)(int)) {
    for (const int number : kSignals) {
        struct sigaction now {};
        if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = handler;
        action.sa_flags = int(SA_RESTART | SA_RESETHAND);
        ::sigaction(number, &action, nullptr);
    }
}

}  // namespace

Termination::Termination(QObject* parent) : QObject(parent) {
    if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) return;  // the signals end the program as they did
    writeEnd = pipe_[1];
    auto* notifier = new QSocketNotifier(pipe_[0], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this] {
        char bytes[8];
        if (::read(pipe_[0], bytes, sizeof bytes) > 0) Q_EMIT wanted();
    });
    setHandler(tell);
}

Termination::~Termination() {
    if (pipe_[0] < 0) return;
    setHandler(SIG_DFL);
    ::close(pipe_[0]);
    ::close(pipe_[1]);
}

}  // namespace matte
