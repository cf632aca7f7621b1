// SPDX-License-Identifier: Apache-2.0
// Viewport: shows a picture before and after through a Presenter, with zoom, pan and a split that can be dragged; or
// the newest live picture, for which it never waits. Keeps the pictures, and uploads them again after a lost context.
// GUI thread.
#pragma once

#include <QOpenGLWidget>
#include <QTimer>

#include <memory>

#include "gui/app/theme.h"
#include "gui/live/live_report.h"
#include "gui/window/view_transform.h"
#include "inference/pipeline/pipeline.h"
#include "interop/presenter.h"

namespace matte {

class Viewport : public QOpenGLWidget {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(Viewport)

public:
    explicit Viewport(QWidget* parent = nullptr);
    ~Viewport() override { releaseGl(); }

    /// Shows a new photo, fitted. `before` may be a smaller version of the photo, whose size is `size`.
    void setPhoto(std::shared_ptr<const Image> before, Size size);
    /// Replaces the pixels of the present photo by sharper ones.
    void setBefore(std::shared_ptr<const Image> before);
    void setAfter(std::shared_ptr<const Image> after);

    /// Shows live pictures instead of the photo, which is kept. Shows nothing until the first setLive().
    void setLiveMode(bool live);
    /// The newest live picture; fitted when its size is another. Null shows none.
    void setLive(std::shared_ptr<const LivePicture> live);

    void setSplitVisible(bool visible);
    /// Shows the original alone for as long as it is set.
    void setOriginalHeld(bool held);
    void setColors(const CanvasColors& colors);

    void fit();
    void actualSize() { zoomTo(1); }
    void zoomTo(double zoom);
    void zoomBy(double factor);
    [[nodiscard]] double zoom() const { return transform_.zoom(); }
    /// Where the split is, in logical pixels from the left; negative when there is none to see.
    [[nodiscard]] double splitPosition() const { return splitShown() ? split_ * width() : -1; }
    /// The first row of the picture that is seen, in logical pixels from the top.
    [[nodiscard]] double pictureTop() const;
    [[nodiscard]] Size pixelSize() const;  ///< the viewport in device pixels
    [[nodiscard]] PresentFacts presentFacts() const;
    /// As countGlObjects(); 0 before the context is there.
    [[nodiscard]] int glObjects();
    /// Whether deviceKnown() was emitted.
    [[nodiscard]] bool contextSeen() const { return contextSeen_; }
    /// Before the widget is shown: pictures on a CUDA device may stay there.
    void allowInterop(bool allow) { interopAllowed_ = allow; }

Q_SIGNALS:
    void zoomChanged(double zoom);
    void splitMoved();  ///< or the picture beside it
    void failed(const QString& sentence);
    /// There is a context, and `device` is GlFacts::device; or there can be none, and it is empty. For each context.
    void deviceKnown(const std::string& device);
    /// A live picture is on the screen for the first time. `ms` is the time that this thread took for it.
    void livePresented(const std::shared_ptr<const matte::LivePicture>& live, double ms);
    // The person was dragged with Shift held, in widths and heights of the picture, or scaled with Shift and the wheel.
    void personDragged(QPointF by);
    void personScaled(double factor);
    void personLetGo();

protected:
    void initializeGL() override;
    void resizeGL(int width, int height) override;
    void paintGL() override;
    bool event(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;

private:
    enum class Drag { none = 1, split, pan, person };

    void releaseGl();
    template <typename Work>
    void orNothing(const Work& work);
    void uploadPhoto();
    void uploadLive();
    void reportLive();
    void changed();
    void updateCursor(QPointF at);
    [[nodiscard]] bool overSplit(QPointF at) const;
    [[nodiscard]] bool splitShown() const { return splitVisible_ && !originalHeld_ && !liveMode_ && before_ && after_; }
    [[nodiscard]] bool hasPicture() const { return liveMode_ ? live_ != nullptr : before_ != nullptr; }
    [[nodiscard]] Size shownSize() const { return liveMode_ && live_ ? live_->picture->size() : photoSize_; }
    [[nodiscard]] QPointF inPixels(QPointF at) const { return at * devicePixelRatioF(); }

    std::unique_ptr<Presenter> presenter_;  ///< lives as long as the context does
    std::shared_ptr<const Image> before_, after_;
    bool beforePending_ = false, afterPending_ = false;
    std::shared_ptr<const LivePicture> live_;
    bool liveMode_ = false, livePending_ = false, liveDrawn_ = false, otherMode_ = false;
    bool contextSeen_ = false;
    double liveMs_ = 0;  ///< what liveDrawn_ took
    QString renderer_;
    bool interopAllowed_ = true;
    Size photoSize_;
    ViewTransform transform_, otherTransform_;  ///< of what is shown, and of the other of photo and live
    CanvasColors colors_;
    double split_ = 0.5;  ///< of the viewport's width, so that it can be reached at any zoom
    bool splitVisible_ = true, originalHeld_ = false, spaceHeld_ = false;
    Drag drag_ = Drag::none;
    QPointF lastMouse_;
    double grabOffset_ = 0;
    QTimer wheelRests_;  ///< a wheel is never let go: it has come to rest when it is not turned for a while
};

}  // namespace matte
