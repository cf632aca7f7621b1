// SPDX-License-Identifier: Apache-2.0
#include "gui/app/application.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "gui/app/command_line.h"
#include "inference/core/exit_code.h"
#include "inference/core/thread.h"

namespace matte {
namespace {

bool isStarting = false, isRunning = false;
QtMessageHandler handlerBefore = nullptr;

/// What Qt says of the display first is the reason; what it says at last is fatal.
void handleMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    static QString reason;
    if (isStarting && type == QtFatalMsg) {
        complain(
            QCoreApplication::translate(
                "matte::Screen",
                "No window can be opened here (%1): start matte on a desktop, set DISPLAY to one that is there, or "
                "unset QT_QPA_PLATFORM; matte-cli needs none.")
                .arg(reason.isEmpty() ? QString("Qt has no platform for it") : reason.trimmed()));
        ::_exit(kExitEngine);
    }
    const bool ofDisplay = context.category && std::string_view(context.category).starts_with("qt.qpa");
    if (!isStarting || !ofDisplay) return handlerBefore(type, context, text);
    if (reason.isEmpty() && type != QtInfoMsg) reason = text;
}

/// Qt calls exit() when the display has gone, and so does OpenMP when it gets no thread. Other threads are at work
/// then: what is static must not go before them.
void endAtOnce() {
    if (!isRunning) return;
    constexpr char kSentence[] =
        "matte: The display is gone, or the system has no thread left: start matte again; the settings are kept.\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSentence, sizeof kSentence - 1);
    ::_exit(kExitEngine);
}

/// Before QApplication is made.
int& prepared(int& argc) {
    isStarting = true;
    handlerBefore = qInstallMessageHandler(handleMessage);
    return argc;
}

}  // namespace

Application::Application(int& argc, char** argv) : QApplication(prepared(argc), argv) {
    isStarting = false;
    qInstallMessageHandler(nullptr);
    static std::once_flag once;
    std::call_once(once, [] { std::atexit(endAtOnce); });
    isRunning = true;
}

Application::~Application() {
    isRunning = false;
}

bool Application::notify(QObject* receiver, QEvent* event) {
    bool handled = false;
    guarded([&] { handled = QApplication::notify(receiver, event); },
            [this](const char* sentence, ErrorCategory) { Q_EMIT failed(sentence); });
    return handled;
}

}  // namespace matte
