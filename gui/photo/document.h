// SPDX-License-Identifier: Apache-2.0
// Document: the open photo, its Look, and the steps by which the Look came about. GUI thread.
#pragma once

#include <QObject>
#include <QUndoStack>

#include <functional>

#include "gui/photo/photo_session.h"

namespace matte {

/// Which control changed the look: steps of one control that belong to one gesture are undone together.
enum class LookControl {
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
    position,
    steadiness,
    specks,
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

    [[nodiscard]] const Look& look() const { return look_; }
    [[nodiscard]] const QUndoStack& undoStack() const { return undoStack_; }
    [[nodiscard]] bool isOpen() const { return photo_.image != nullptr; }
    [[nodiscard]] const OpenedPhoto& photo() const { return photo_; }

    /// Changes the look as an undo step; merged with the last one while the same gesture goes on.
    void edit(const Look& look, LookControl control);
    /// edit() of the look that `change` makes of the present one.
    template <typename Change>
    void edit(LookControl control, Change change) {
        Look look = look_;
        change(look);
        edit(look, control);
    }
    /// A step of its own: a switch that was turned, a key that was pressed.
    template <typename Change>
    void step(LookControl control, Change change) {
        finishGesture();
        edit(control, change);
        finishGesture();
    }
    /// The step that undo() would take back, 0 for none: each has a number of its own, later ones higher.
    [[nodiscard]] int lastStep() const;
    /// Something of a step came late: as if `step`, and what was done since, had had it. False, and nothing done, when
    /// the step is undone or forgotten. No gesture ends.
    bool amend(int step, const std::function<void(Look&)>& change);
    /// The next edit() is a step of its own: a slider was let go, a dialog closed.
    void finishGesture() { ++gesture_; }
    void undo();
    void redo();
    /// Changes the look without a step and forgets all steps: settings were restored.
    void resetLook(const Look& look);
    /// Changes the look without a step; the steps stay, and those of mirroring with the kind of source that they were
    /// made for: another source is mirrored or not.
    void adopt(const Look& look, MirrorOf of) {
        finishGesture();  // a step that went on over it would be one of both sources
        mirrorOf_ = of;
        apply(look);
    }
    /// Takes over a photo; the look stays, the steps are forgotten.
    void setPhoto(const OpenedPhoto& photo);

Q_SIGNALS:
    void lookChanged(const matte::Look& look);
    /// A step, or its undoing, mirrored a kind of source or no longer; the look has it when that kind is the present
    /// one.
    void mirrorTurned(matte::MirrorOf of, bool mirrored);

private:
    friend class SetLook;
    void apply(const Look& look);

    Look look_;
    OpenedPhoto photo_;
    QUndoStack undoStack_;
    MirrorOf mirrorOf_ = MirrorOf::cameras;
    int gesture_ = 0, steps_ = 0;
};

}  // namespace matte
