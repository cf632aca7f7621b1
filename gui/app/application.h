// SPDX-License-Identifier: Apache-2.0
// Application: a QApplication that survives what Qt's own would not: an exception out of a slot is told, and a program
// that the display's library ends, because the display is gone, ends without a crash. One; GUI thread.
#pragma once

#include <QApplication>

namespace matte {

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

}  // namespace matte
