// SPDX-License-Identifier: Apache-2.0
#include "gui/photo/document.h"

#include <QUndoCommand>

namespace matte {
namespace {

constexpr int kUndoLimit = 200;

QString stepName(LookControl control, MirrorOf mirrorOf) {
    switch (control) {
        case LookControl::background: return Document::tr("Background");
        case LookControl::blurStrength: return Document::tr("Blur Strength");
        case LookControl::color: return Document::tr("Colour");
        case LookControl::image: return Document::tr("Background Picture");
        case LookControl::placement: return Document::tr("Placement");
        case LookControl::picturePosition: return Document::tr("Background Position");
        case LookControl::threshold: return Document::tr("Threshold");
        case LookControl::softness: return Document::tr("Softness");
        case LookControl::decontaminate: return Document::tr("Clean Edge Colours");
        case LookControl::lightWrap: return Document::tr("Light Wrap");
        case LookControl::mirror:
            return mirrorOf == MirrorOf::cameras ? Document::tr("Camera's Mirror") : Document::tr("Video's Mirror");
        case LookControl::scale: return Document::tr("Person's Size");
        case LookControl::position: return Document::tr("Person's Place");
        case LookControl::steadiness: return Document::tr("Steadiness");
        case LookControl::specks: return Document::tr("Specks");
        case LookControl::nearest: return Document::tr("Nearest Person");
        case LookControl::detail: return Document::tr("Fine Detail");
        case LookControl::profile: return Document::tr("Profile");
        case LookControl::all: break;
    }
    return Document::tr("Reset");
}

}  // namespace

/// One step: the look before and after.
class SetLook : public QUndoCommand {
public:
    SetLook(Document& document, const Look& look, LookControl control)
        : QUndoCommand(stepName(control, document.mirrorOf_)),
          document_(document),
          before_(document.look()),
          after_(look),
          control_(control),
          mirrorOf_(document.mirrorOf_),
          gesture_(document.gesture_),
          number_(++document.steps_) {}

    void undo() override { change(before_); }
    void redo() override { change(after_); }
    [[nodiscard]] int id() const override { return int(control_); }
    bool mergeWith(const QUndoCommand* other) override {
        const auto& next = static_cast<const SetLook&>(*other);
        if (next.gesture_ != gesture_) return false;
        after_ = next.after_;
        setObsolete(before_ == after_);
        return true;
    }
    [[nodiscard]] int number() const { return number_; }
    /// Const, for the stack gives its commands away as such.
    void amend(const std::function<void(Look&)>& change, bool since) const {
        if (since) change(before_);
        change(after_);
    }

private:
    /// Mirroring goes with the kind of source, which may be another one by now: only a step that changed it brings it
    /// back, and only for the kind that it was made for.
    void change(Look look) {
        const bool turns = before_.stand.mirrored != after_.stand.mirrored, mirrored = look.stand.mirrored;
        if (!turns || mirrorOf_ != document_.mirrorOf_) look.stand.mirrored = document_.look().stand.mirrored;
        document_.apply(look);
        if (turns) Q_EMIT document_.mirrorTurned(mirrorOf_, mirrored);
    }

    Document& document_;
    mutable Look before_, after_;
    LookControl control_;
    MirrorOf mirrorOf_;
    int gesture_, number_;
};

namespace {

const SetLook& stepAt(const QUndoStack& stack, int index) {
    return static_cast<const SetLook&>(*stack.command(index));
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent) {
    undoStack_.setUndoLimit(kUndoLimit);
}

void Document::apply(const Look& look) {
    if (look == look_) return;
    look_ = look;
    Q_EMIT lookChanged(look_);
}

void Document::edit(const Look& look, LookControl control) {
    if (look != look_) undoStack_.push(new SetLook(*this, look, control));
}

int Document::lastStep() const {
    return undoStack_.canUndo() ? stepAt(undoStack_, undoStack_.index() - 1).number() : 0;
}

bool Document::amend(int step, const std::function<void(Look&)>& change) {
    int first = 0;
    while (first < undoStack_.index() && stepAt(undoStack_, first).number() != step) ++first;
    if (first == undoStack_.index()) return false;
    for (int i = first; i < undoStack_.count(); ++i) stepAt(undoStack_, i).amend(change, i > first);
    Look look = look_;
    change(look);
    apply(look);
    return true;
}

// What follows an undo is a gesture of its own, or it would be merged into the step before.
void Document::undo() {
    finishGesture();
    undoStack_.undo();
}

void Document::redo() {
    finishGesture();
    undoStack_.redo();
}

void Document::resetLook(const Look& look) {
    undoStack_.clear();
    apply(look);
}

void Document::setPhoto(const OpenedPhoto& photo) {
    photo_ = photo;
    undoStack_.clear();
}

}  // namespace matte
