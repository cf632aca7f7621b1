// SPDX-License-Identifier: Apache-2.0
#include "gui/live/engine_picker.h"

#include <QFileInfo>

#include <algorithm>
#include <utility>

#include "gui/widgets/choice_menu.h"
#include "inference/model/default_model.h"

namespace matte {
namespace {

constexpr const char* kModels[] = {"portrait", kLiteModel};

}  // namespace

EnginePicker::EnginePicker(
    LiveSession& session, ChoiceMenu& models, ChoiceMenu& precisions, EnginesFor enginesFor, EngineChoice running)
    : session_(session),
      models_(models),
      precisions_(precisions),
      enginesFor_(std::move(enginesFor)),
      running_(running),
      chosen_(std::move(running)) {
    models_.menuAction()->setVisible(bool(enginesFor_));
    precisions_.menuAction()->setVisible(bool(enginesFor_));
    if (!enginesFor_) return;
    models_.add(tr("&Automatic"), QString());
    for (const char* model : kModels) models_.add(model, QString(model));
    if (!running_.model.empty() && std::ranges::find(kModels, running_.model) == std::end(kModels)) {
        const QString file = QString::fromStdString(running_.model);
        models_.add(QFileInfo(file).fileName().replace("&", "&&"), file);
    }
    precisions_.add(tr("&Fast: Half Precision or bf16"), int(Precision::fast));
    precisions_.add(tr("&Single Precision"), int(Precision::fp32));
    showChoice();
    connect(&models_, &ChoiceMenu::chosen, this, [this](const QVariant& model) {
        choose({model.toString().toStdString(), chosen_.precision});
    });
    connect(&precisions_, &ChoiceMenu::chosen, this, [this](const QVariant& precision) {
        choose({chosen_.model, Precision(precision.toInt())});
    });
    connect(&session_, &LiveSession::statusChanged, this, &EnginePicker::statusChanged);
}

void EnginePicker::choose(const EngineChoice& choice) {
    if (choice == chosen_) return;
    chosen_ = choice;
    showChoice();
    session_.setEngines(enginesFor_(choice));
}

void EnginePicker::statusChanged(const LiveStatus& status) {
    if (status.switching || chosen_ == running_) return;
    if (status.switchProblem.empty()) {
        running_ = chosen_;
        return;
    }
    chosen_ = running_;
    showChoice();
    Q_EMIT failed(QString::fromStdString(status.switchProblem));
}

void EnginePicker::showChoice() {
    models_.setChosen(QString::fromStdString(chosen_.model));
    precisions_.setChosen(int(chosen_.precision));
}

}  // namespace matte
