// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/screen_watch.h"

#include <QCoreApplication>
#include <QGuiApplication>
#include <QImage>
#include <QPixmap>
#include <QScreen>
#include <QStringList>
#include <QTimer>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <optional>
#include <random>

#include <unistd.h>

#include "tests/support/pictures/known_room.h"

namespace matte::test {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kBetweenPictures{80}, kDuty{100}, kTurn{2000};

struct Count {
    int room = 0, behind = 0;
};

Count countIn(const QImage& picture) {
    Count count;
    for (int y = 0; y < picture.height(); ++y) {
        const auto* line = reinterpret_cast<const QRgb*>(picture.constScanLine(y));
        for (int x = 0; x < picture.width(); ++x) {
            const int red = qRed(line[x]), green = qGreen(line[x]), blue = qBlue(line[x]);
            count.room += isOfKnownRoom(red, green, blue) ? 1 : 0;
            count.behind += green > 200 && red < 80 && blue < 80 ? 1 : 0;
        }
    }
    return count;
}

/// Gives a process a share of the time, by signals. It goes on when this ends.
class Throttle {
public:
    Throttle(pid_t process, unsigned seed) : process_(process), random_(seed) {
        turn_.setInterval(kTurn);
        QObject::connect(&turn_, &QTimer::timeout, [this] { choose(); });
        duty_.setSingleShot(true);
        QObject::connect(&duty_, &QTimer::timeout, [this] { toggle(); });
        choose();
        turn_.start();
        duty_.start(0);
    }
    ~Throttle() { ::kill(process_, SIGCONT); }
    Throttle(const Throttle&) = delete;
    Throttle& operator=(const Throttle&) = delete;

private:
    void choose() {
        constexpr int kShares[] = {3, 10, 20, 100};
        share_ = kShares[std::uniform_int_distribution<std::size_t>(0, std::size(kShares) - 1)(random_)];
    }
    void toggle() {
        stopped_ = !stopped_ && share_ < 100;
        ::kill(process_, stopped_ ? SIGSTOP : SIGCONT);
        duty_.start(kDuty * (stopped_ ? 100 - share_ : share_) / 100);
    }

    pid_t process_;
    std::mt19937 random_;
    QTimer turn_, duty_;
    int share_ = 100;
    bool stopped_ = false;
};

}  // namespace

int runScreenWatch(int, char**) {
    const QStringList arguments = QCoreApplication::arguments().mid(2);
    if (arguments.size() != 4) return 2;
    int left = arguments[0].toInt();
    int worst = -1;
    std::optional<Throttle> throttle;
    if (arguments[2] == "1") throttle.emplace(::getppid(), arguments[1].toUInt());
    const pid_t parent = ::getppid();
    QTimer shutter;
    QObject::connect(&shutter, &QTimer::timeout, [&] {
        const QImage picture =
            QGuiApplication::primaryScreen()->grabWindow(0).toImage().convertToFormat(QImage::Format_RGB32);
        const Count count = countIn(picture);
        std::printf("%d %d\n", count.room, count.behind);
        std::fflush(stdout);
        if (count.room > worst) {
            worst = count.room;
            picture.save(arguments[3]);
        }
        if (--left <= 0 || ::getppid() != parent) QCoreApplication::quit();
    });
    shutter.start(kBetweenPictures);
    return QCoreApplication::exec();
}

}  // namespace matte::test
