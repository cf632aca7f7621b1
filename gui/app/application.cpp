// SPDX-License-Identifier: Apache-2.0
#include "gui/app/application.h"

#include <QFile>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QSocketNotifier>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fcntl.h>
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

QString displayProblem(const QStringList& arguments) {
#ifdef Q_OS_LINUX
    for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM"}) {
        if (!qEnvironmentVariableIsEmpty(variable)) return {};
    }
    const bool chosen = std::ranges::any_of(arguments, [](QString argument) {
        argument.replace("--", "-");
        return argument.startsWith("-platform") || argument.startsWith("-display");
    });
    // What Wayland looks for where no variable names it.
    if (chosen || QFile::exists(qEnvironmentVariable("XDG_RUNTIME_DIR") + "/wayland-0")) return {};
    return QCoreApplication::translate("matte::Screen",
                                       "There is no display to open a window on: start matte on a desktop, or set "
                                       "DISPLAY; matte-cli needs none.");
#else
    Q_UNUSED(arguments);
    return {};
#endif
}

QString openGlProblem() {
    const QSurfaceFormat wanted = QSurfaceFormat::defaultFormat();
    QOpenGLContext context;
    QOffscreenSurface surface;
    surface.create();
    const bool works = context.create() && context.makeCurrent(&surface);
    if (works && context.format().version() >= wanted.version()) return {};
    return QCoreApplication::translate("matte::Screen",
                                       "Matte draws with OpenGL %1.%2, which this desktop does not have: install the "
                                       "graphics card's driver, or Mesa's libgl1-mesa-dri, which needs no card.")
        .arg(wanted.majorVersion())
        .arg(wanted.minorVersion());
}

}  // namespace matte
