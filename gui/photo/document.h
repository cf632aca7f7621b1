// SPDX-License-Identifier: Apache-2.0
// Document: the open photo, its CompositeParams, and the steps by which they came about. GUI thread.
#pragma once

#include <QObject>
#include <QUndoStack>

#include <functional>

#include "gui/photo/photo_session.h"

namespace matte {

/// Which control changed the parameters: steps of one control that belong to one gesture are undone together.
enum class ParamControl {
    background = 1,
    blurStrength,
    color,
    image,
    placement,
    picturePosition,
    threshold,
    softness,
    decontaminate,
    lightWrap,
    mirror,
    scale,
    position,  ///< both at once
    across,
    down,
    temporalSmoothing,
    smallRegions,
    nearest,
    detail,
    profile,
    all
};

/// The kinds of source whose mirroring is remembered: each has its own.
enum class MirrorOf { cameras = 1, others };

class Document : public QObject {
    Q_OBJECT

public:
    explicit Document(QObject* parent = nullptr);

    [[nodiscard]] const CompositeParams& params() const { return params_; }
    [[nodiscard]] const QUndoStack& undoStack() const { return undoStack_; }
    [[nodiscard]] bool isOpen() const { return photo_.image != nullptr; }
    [[nodiscard]] const OpenedPhoto& photo() const { return photo_; }

    /// Changes the parameters as an undo step; merged with the last one while the same gesture goes on.
    void edit(const CompositeParams& params, ParamControl control);
    /// edit() of the parameters that `change` makes of the present ones.
    template <typename Change>
    void edit(ParamControl control, Change change) {
        CompositeParams params = params_;
        change(params);
        edit(params, control);
    }
    /// A step of its own: a switch that was turned, a key that was pressed.
    template <typename Change>
    void step(ParamControl control, Change change) {
        finishGesture();
        edit(control, change);
        finishGesture();
    }
    /// The step that undo() would take back, 0 for none: each has a number of its own, later ones higher.
    [[nodiscard]] int lastStep() const;
    /// Something of a step came late: as if `step`, and what was done since, had had it. False, and nothing done, when
    /// the step is undone or forgotten. No gesture ends.
    bool amend(int step, const std::function<void(CompositeParams&)>& change);
    /// The next edit() is a step of its own: a slider was let go, a dialog closed.
    void finishGesture() { ++gesture_; }
    void undo();
    void redo();
    /// Changes the parameters without a step and forgets all steps: settings were restored.
    void resetParams(const CompositeParams& params);
    /// Changes the parameters without a step; the steps stay, and those of mirroring with the kind of source that they
    /// were made for: another source is mirrored or not.
    void adopt(const CompositeParams& params, MirrorOf of) {
        finishGesture();  // a step that went on over it would be one of both sources
        mirrorOf_ = of;
        apply(params);
    }
    /// Takes over a photo; the parameters stay, the steps are forgotten.
    void setPhoto(const OpenedPhoto& photo);

Q_SIGNALS:
    void paramsChanged(const matte::CompositeParams& params);
    /// A step, or its undoing, mirrored a kind of source or no longer; the parameters have it when that kind is the
    /// present one.
    void mirrorTurned(matte::MirrorOf of, bool mirrored);

private:
    friend class SetParams;
    void apply(const CompositeParams& params);

    CompositeParams params_;
    OpenedPhoto photo_;
    QUndoStack undoStack_;
    MirrorOf mirrorOf_ = MirrorOf::cameras;
    int gesture_ = 0, steps_ = 0;
};

}  // namespace matte
