// SPDX-License-Identifier: Apache-2.0
// Termination: SIGTERM, SIGINT and SIGHUP as a signal of Qt's, so that the program ends as if its window had been
// closed. The same signal a second time ends it at once. One that was ignored from the start, as nohup has it, stays
// so. One at a time; GUI thread, once there is a QApplication.
#pragma once

#include <QObject>

namespace matte {

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

}  // namespace matte
