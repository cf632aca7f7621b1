// SPDX-License-Identifier: Apache-2.0
// PhotoSession: the work on photos, on one worker thread: reading, loading the model, cutting out, compositing,
// exporting. GUI thread. The signals are emitted on the worker thread: connect them to objects of the GUI thread, where
// they arrive through the event queue, in order.
//
//     PhotoSession session([] { return createPhotoEngine(UNet::load(readModel(path)), {}); });
//     session.open(PhotoSource::fromFile("portrait.jpg"));   // opened(), or failed() and all stays as it was
//     session.show({params, Showing::result, 1200});  // rendered()
#pragma once

#include <QImage>
#include <QObject>
#include <QString>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "inference/core/error.h"
#include "inference/engine/engine.h"

class QMimeData;

namespace matte {

/// Where a photo comes from: a file, or pixels that were pasted.
struct PhotoSource {
    std::filesystem::path file;  ///< empty for pixels
    QImage pixels;
    QString name;  ///< for people
    static PhotoSource fromFile(const QString& path);
    /// What was dropped or pasted: the first local file, else the pixels. Throws Error(input) when there is neither.
    static PhotoSource fromMimeData(const QMimeData& data);
};

/// A photo that was read and cut out.
struct OpenedPhoto {
    std::shared_ptr<const Image> image;    ///< rgba8, upright
    std::shared_ptr<const Image> preview;  ///< the same, at most kPreviewPixels
    QString path, name;                    ///< path is empty for pasted pixels
    int number = 0;                        ///< of those that were opened
    StageTimes times;                      ///< decode, then the engine's stages
};

/// The view right of the split.
enum class Showing { result = 1, matte, onBlack, onWhite, original };

struct RenderRequest {
    CompositeParams params;
    Showing showing = Showing::result;
    int side = 0;  ///< pixels, longest side of the picture that the view can make use of
    bool operator==(const RenderRequest&) const = default;
};

struct Rendered {
    std::shared_ptr<const Image> image;
    RenderRequest request;
    bool full = false;  ///< the photo's own size
    double ms = 0;
};

class PhotoSession : public QObject {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(PhotoSession)

public:
    using EngineFactory = std::function<std::unique_ptr<PhotoEngine>()>;
    /// More pixels than this are not composited while a slider moves, nor uploaded when a photo opens.
    static constexpr double kPreviewPixels = 1.5e6;

    /// Starts the worker. The factory runs on it when the engine is first needed, and again for as long as it throws.
    /// GUI thread.
    explicit PhotoSession(EngineFactory makeEngine, QObject* parent = nullptr);
    /// Cancels what is running and waits for it. GUI thread.
    ~PhotoSession() override;

    /// Makes the engine now, so that the first photo need not wait for it; to be called once the signals are connected.
    /// GUI thread.
    void prepare();
    // Each returns at once; the newest open() or show() replaces one that waits, the other jobs run in order. GUI
    // thread.
    void open(PhotoSource source);
    /// Composites the open photo: at once a quick picture, as large as can be had while a slider moves, and, where that
    /// is smaller than asked for and nothing newer came, the settled one. A running quick picture is finished, so that
    /// a long drag shows every stage of it; a running settled one for an older request is cancelled.
    void show(const RenderRequest& request);
    /// A picture, or a video, which photos see the first frame of.
    void loadBackground(const QString& path);
    // `photo` is OpenedPhoto::number: of the open one, or of the one before when the next is not yet cut out. failed()
    // when it was replaced meanwhile.
    void exportTo(const QString& path, const CompositeParams& params, int photo);
    void copy(const CompositeParams& params, int photo);
    /// Gives up what is running and what waits, except what show() asked for.
    void cancel();

Q_SIGNALS:
    void engineReady(const matte::EngineInfo& info);
    void busyChanged(const QString& stage);  ///< for people; empty when there is nothing to wait for
    void opened(const matte::OpenedPhoto& photo);
    void rendered(const matte::Rendered& picture);
    /// Only imagePath, image and moving count.
    void backgroundLoaded(const matte::Background& background);
    /// Before failed() says why.
    void backgroundFailed(const QString& path);
    void exported(const QString& path);
    void copied(const QImage& picture, const matte::CompositeParams& params);
    void cancelled();
    void failed(const QString& sentence, matte::ErrorCategory category);

private:
    enum class JobKind { open = 1, errand, quick, settled };
    struct Job {
        JobKind kind;
        std::function<void(std::stop_token)> run;
    };

    void work(std::stop_token quit);
    std::optional<Job> nextJob(std::stop_token quit);
    void perform(const Job& job, std::stop_token stop);
    void post(Job job);

    // On the worker only.
    PhotoEngine& engine();
    void openNow(const PhotoSource& source, std::stop_token stop);
    void renderQuick(const RenderRequest& request, std::stop_token stop);
    double renderAt(const RenderRequest& request, Size size, std::stop_token stop);
    [[nodiscard]] Size quickSize(Size whole, int side) const;
    void adaptQuickScale(double ms);
    void exportNow(const std::filesystem::path& path, const CompositeParams& params, std::stop_token stop);
    void finishErrands();
    void checkOpen(int photo) const;

    EngineFactory makeEngine_;
    std::unique_ptr<PhotoEngine> engine_;  ///< worker only
    std::shared_ptr<Cutout> cutout_;       ///< worker only: the open photo
    std::size_t quickScale_ = 0;           ///< worker only: the slower the machine, the higher
    std::filesystem::path photoPath_;      ///< worker only: empty for pasted pixels
    int photoNumber_ = 0;                  ///< worker only

    std::mutex mutex_;  ///< guards what follows: posted by the GUI thread, taken by the worker
    std::condition_variable_any wake_;
    std::deque<Job> errands_;
    std::optional<Job> open_;
    std::optional<RenderRequest> quick_, settled_;
    std::optional<JobKind> running_;
    std::stop_source jobStop_;

    std::jthread worker_;  ///< last, so that it starts after and ends before everything that it uses
};

}  // namespace matte

Q_DECLARE_METATYPE(matte::Background)
Q_DECLARE_METATYPE(matte::EngineInfo)
Q_DECLARE_METATYPE(matte::CompositeParams)
Q_DECLARE_METATYPE(matte::OpenedPhoto)
Q_DECLARE_METATYPE(matte::Rendered)
