// SPDX-License-Identifier: Apache-2.0
// Document: the open photo, the CompositeParams and their undo steps. GUI thread.
#pragma once

#include <QObject>
#include <QUndoStack>

#include <functional>

#include "gui/photo/photo_session.h"

namespace matte {

/// The control that changed the parameters. Changes by one control in one gesture are one undo step.
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

/// The kinds of source with a mirror setting of their own.
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
    /// A step of its own, as by a switch or a key.
    template <typename Change>
    void step(ParamControl control, Change change) {
        finishGesture();
        edit(control, change);
        finishGesture();
    }
    /// The number of the step that undo() would undo; 0 for none. Numbers rise, and none is used twice.
    [[nodiscard]] int lastStep() const;
    /// Applies a late change to `step` and to the steps after it. Returns false, and does nothing, when the step is
    /// undone or forgotten. No gesture ends.
    bool amend(int step, const std::function<void(CompositeParams&)>& change);
    /// The next edit() is a step of its own: a slider was released, or a dialog closed.
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
