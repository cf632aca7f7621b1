// SPDX-License-Identifier: Apache-2.0
#include "gui/photo/document.h"

#include <QUndoCommand>

namespace matte {
namespace {

constexpr int kUndoLimit = 200;

QString stepName(ParamControl control, MirrorOf mirrorOf) {
    switch (control) {
        case ParamControl::background: return Document::tr("Background");
        case ParamControl::blurStrength: return Document::tr("Blur Strength");
        case ParamControl::color: return Document::tr("Colour");
        case ParamControl::image: return Document::tr("Background Picture");
        case ParamControl::placement: return Document::tr("Placement");
        case ParamControl::picturePosition: return Document::tr("Background Position");
        case ParamControl::threshold: return Document::tr("Threshold");
        case ParamControl::softness: return Document::tr("Softness");
        case ParamControl::decontaminate: return Document::tr("Clean Edge Colours");
        case ParamControl::lightWrap: return Document::tr("Light Wrap");
        case ParamControl::mirror:
            return mirrorOf == MirrorOf::cameras ? Document::tr("Camera's Mirror") : Document::tr("Video's Mirror");
        case ParamControl::scale: return Document::tr("Person's Size");
        case ParamControl::position:
        case ParamControl::across:
        case ParamControl::down: return Document::tr("Person's Place");
        case ParamControl::temporalSmoothing: return Document::tr("Temporal Smoothing");
        case ParamControl::smallRegions: return Document::tr("Small Regions");
        case ParamControl::nearest: return Document::tr("Nearest Person");
        case ParamControl::detail: return Document::tr("Fine Detail");
        case ParamControl::profile: return Document::tr("Profile");
        case ParamControl::all: break;
    }
    return Document::tr("Reset");
}

}  // namespace

/// One step: the parameters before and after.
class SetParams : public QUndoCommand {
public:
    SetParams(Document& document, const CompositeParams& params, ParamControl control)
        : QUndoCommand(stepName(control, document.mirrorOf_)),
          document_(document),
          before_(document.params()),
          after_(params),
          control_(control),
          mirrorOf_(document.mirrorOf_),
          gesture_(document.gesture_),
          number_(++document.steps_) {}

    void undo() override { change(before_); }
    void redo() override { change(after_); }
    [[nodiscard]] int id() const override { return int(control_); }
    bool mergeWith(const QUndoCommand* other) override {
        const auto& next = static_cast<const SetParams&>(*other);
        if (next.gesture_ != gesture_) return false;
        after_ = next.after_;
        setObsolete(before_ == after_);
        return true;
    }
    [[nodiscard]] int number() const { return number_; }
    /// Const, for the stack gives its commands away as such.
    void amend(const std::function<void(CompositeParams&)>& change, bool since) const {
        if (since) change(before_);
        change(after_);
    }

private:
    /// Mirroring goes with the kind of source, which may be another one by now: only a step that changed it brings it
    /// back, and only for the kind that it was made for.
    void change(CompositeParams params) {
        const bool turns = before_.transform.mirrored != after_.transform.mirrored,
                   mirrored = params.transform.mirrored;
        if (!turns || mirrorOf_ != document_.mirrorOf_)
            params.transform.mirrored = document_.params().transform.mirrored;
        document_.apply(params);
        if (turns) Q_EMIT document_.mirrorTurned(mirrorOf_, mirrored);
    }

    Document& document_;
    mutable CompositeParams before_, after_;
    ParamControl control_;
    MirrorOf mirrorOf_;
    int gesture_, number_;
};

namespace {

const SetParams& stepAt(const QUndoStack& stack, int index) {
    return static_cast<const SetParams&>(*stack.command(index));
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent) {
    undoStack_.setUndoLimit(kUndoLimit);
}

void Document::apply(const CompositeParams& params) {
    if (params == params_) return;
    params_ = params;
    Q_EMIT paramsChanged(params_);
}

void Document::edit(const CompositeParams& params, ParamControl control) {
    if (params != params_) undoStack_.push(new SetParams(*this, params, control));
}

int Document::lastStep() const {
    return undoStack_.canUndo() ? stepAt(undoStack_, undoStack_.index() - 1).number() : 0;
}

bool Document::amend(int step, const std::function<void(CompositeParams&)>& change) {
    int first = 0;
    while (first < undoStack_.index() && stepAt(undoStack_, first).number() != step) ++first;
    if (first == undoStack_.index()) return false;
    for (int i = first; i < undoStack_.count(); ++i) stepAt(undoStack_, i).amend(change, i > first);
    CompositeParams params = params_;
    change(params);
    apply(params);
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

void Document::resetParams(const CompositeParams& params) {
    undoStack_.clear();
    apply(params);
}

void Document::setPhoto(const OpenedPhoto& photo) {
    photo_ = photo;
    undoStack_.clear();
}

}  // namespace matte
