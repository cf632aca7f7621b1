// SPDX-License-Identifier: Apache-2.0
// Viewport: shows a picture before and after through a Presenter, with zoom, pan and a split that can be dragged. Keeps
// the pictures, so that a lost context is filled again. GUI thread.
#pragma once

#include <QOpenGLWidget>

#include <memory>

#include "gui/theme.h"
#include "gui/view_transform.h"
#include "interop/presenter.h"

namespace matte {

class Viewport : public QOpenGLWidget {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(Viewport)

public:
    explicit Viewport(QWidget* parent = nullptr);
    ~Viewport() override;

    /// Shows a new photo, fitted; `before` may be a smaller stand-in for a photo of `size`.
    void setPhoto(std::shared_ptr<const Image> before, Size size);
    /// Sharper pixels for the photo that is shown, not a new one.
    void setBefore(std::shared_ptr<const Image> before);
    void setAfter(std::shared_ptr<const Image> after);

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
    [[nodiscard]] double splitPosition() const;
    /// The first row of the picture that is seen, in logical pixels from the top.
    [[nodiscard]] double pictureTop() const;
    [[nodiscard]] Size pixelSize() const;  ///< the viewport in device pixels

signals:
    void zoomChanged(double zoom);
    void splitMoved();  ///< or what is seen of the picture beside it
    void failed(const QString& sentence);

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
    enum class Drag { none = 1, split, pan };

    void releaseGl();
    void uploadPending();
    void changed();
    void updateCursor(QPointF at);
    [[nodiscard]] bool overSplit(QPointF at) const;
    [[nodiscard]] bool splitShown() const;
    [[nodiscard]] QPointF inPixels(QPointF at) const { return at * devicePixelRatioF(); }

    std::unique_ptr<Presenter> presenter_;  ///< lives as long as the context does
    std::shared_ptr<const Image> before_, after_;
    bool beforePending_ = false, afterPending_ = false;
    Size photoSize_;
    ViewTransform transform_;
    CanvasColors colors_;
    double split_ = 0.5;  ///< of the viewport's width, so that it can be reached at any zoom
    bool splitVisible_ = true, originalHeld_ = false, spaceHeld_ = false;
    Drag drag_ = Drag::none;
    QPointF lastMouse_;
    double grabOffset_ = 0;
};

}  // namespace matte
