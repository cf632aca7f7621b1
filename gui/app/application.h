// SPDX-License-Identifier: Apache-2.0
// The program around its window: how it starts, survives and ends. GUI thread.
#pragma once

#include <QApplication>
#include <QString>
#include <QStringList>

namespace matte {

/// A QApplication that survives what Qt's own would not. An exception out of a slot is told. When the display is gone,
/// the program ends without a crash. There is one.
class Application : public QApplication {
    Q_OBJECT

public:
    /// Where no window can be opened, it says why, and ends the program with kExitEngine, in place of a core dump.
    Application(int& argc, char** argv);
    ~Application() override;

    bool notify(QObject* receiver, QEvent* event) override;

Q_SIGNALS:
    /// Something went wrong that nobody expected; the program goes on.
    void failed(const QString& sentence);
};

/// SIGTERM, SIGINT and SIGHUP as a signal of Qt's, so that the program ends as if its window had been closed. The same
/// signal a second time ends it at once. A signal that was ignored from the start, as by nohup, stays ignored. One at a
/// time; once there is a QApplication.
class Termination : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(Termination)

public:
    explicit Termination(QObject* parent = nullptr);
    /// From here on the signals end the program at once.
    ~Termination() override;

Q_SIGNALS:
    void wanted();

private:
    int pipe_[2] = {-1, -1};
};

/// Why no window can be opened here, and what to do: a sentence, empty when all is well. To be called before a
/// QApplication is made, which would abort the program. `arguments` are the program's: another platform of Qt may be
/// chosen by them, or by QT_QPA_PLATFORM.
[[nodiscard]] QString displayProblem(const QStringList& arguments);

/// The same for OpenGL as the default surface format asks for it, once there is a QApplication.
[[nodiscard]] QString openGlProblem();

}  // namespace matte
