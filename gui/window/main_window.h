// SPDX-License-Identifier: Apache-2.0
// MainWindow: makes the parts of the window and connects them. GUI thread.
#pragma once

#include <QMainWindow>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "gui/app/settings.h"
#include "gui/app/theme.h"
#include "gui/live/engine_picker.h"
#include "gui/live/live_session.h"
#include "gui/photo/document.h"
#include "gui/photo/photo_session.h"
#include "gui/window/actions.h"
#include "inference/baselines/live/implementation_switch.h"
#include "inference/media/virtual_camera/virtual_camera.h"

class QMimeData;
class QSettings;

namespace matte {

class BackgroundChooser;
class CompactWindow;
class Canvas;
class LiveControl;
class ParamsPanel;
class PhotoControl;
class Profiles;
class Recorder;
class SettingsFile;
class StatusLine;
class VideoExporter;
class WindowBars;

/// The options of the window, by the command line or a test.
struct Startup {
    std::optional<Background> background{};  ///< instead of the one of the last session
    MakeLiveEngines makeLiveEngines{};       ///< required for live mode
    MakeLiveEngines makeVideoEngines{};      ///< required for the export of videos
    EngineChoice engine{};                   ///< of makeLiveEngines
    EnginePicker::EnginesFor enginesFor{};   ///< for another choice in the menu; empty: it offers none
    LiveSession::OpenSource open = LiveSession::openNamed;
    std::function<std::unique_ptr<VirtualCamera>(const std::stop_token&)> openVirtualCamera{};  ///< empty: the real one
    std::shared_ptr<baselines::ImplementationSwitch> implementations{};  ///< of the live engine; null: without a choice
    std::vector<std::filesystem::path> models{};                         ///< files that nothing is written over
    bool interop = true;                                                 ///< live pictures may stay on the GPU
    bool keepSettings = true;                                            ///< false: changes are forgotten
    bool watchCameras = true;  ///< false: the list of cameras is empty until it is set
};

class MainWindow : public QMainWindow {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(MainWindow)

public:
    /// Reads the settings from `store`, and writes them there soon after each change. `makeEngine` is called for the
    /// photos.
    MainWindow(const PhotoSession::EngineFactory& makeEngine, QSettings& store, const Startup& startup = {});
    ~MainWindow() override;

    void setMode(Mode mode);
    /// Takes over a profile's parameters as one step, and its source. Does nothing when there is no such profile.
    void applyProfile(int index);
    /// Writes the whole video over the present background. Stops live mode's source.
    void exportVideo(const QString& video, const QString& path);
    /// Closes without a question: after a signal, or when the session ends. Cancels the export of a video, closes the
    /// cameras and writes the settings.
    void closeNow();

    [[nodiscard]] Actions& actions() { return actions_; }
    [[nodiscard]] BackgroundChooser& backgrounds() { return *backgrounds_; }
    [[nodiscard]] WindowBars& bars() { return *bars_; }
    [[nodiscard]] Canvas& canvas() { return *canvas_; }
    [[nodiscard]] CompactWindow& compact() { return *compact_; }
    [[nodiscard]] Document& document() { return document_; }
    [[nodiscard]] VideoExporter& exporter() { return *exporter_; }
    [[nodiscard]] LiveSession& live() { return live_; }
    [[nodiscard]] LiveControl& liveControl() { return *liveControl_; }
    [[nodiscard]] ParamsPanel& panel() { return *panel_; }
    [[nodiscard]] PhotoControl& photos() { return *photos_; }
    [[nodiscard]] Profiles& profiles() { return *profiles_; }
    [[nodiscard]] Recorder& recorder() { return *recorder_; }
    [[nodiscard]] PhotoSession& session() { return session_; }
    [[nodiscard]] StatusLine& status() { return *status_; }
    [[nodiscard]] const Settings& settings() const { return settings_; }

Q_SIGNALS:
    /// A photo could not be opened, shown or written, or a video could not be written.
    void failed(const QString& sentence, matte::ErrorCategory category);

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void arrange();
    void connectModes();
    void connectWindow();
    void connectParams();
    void connectProfiles();
    void connectExporter();
    void connectSettings();
    void restoreSettings(const std::optional<Background>& background);
    [[nodiscard]] Settings settingsNow();
    [[nodiscard]] std::vector<std::filesystem::path> filesRead() const;
    void take(const QMimeData& incoming);
    void askForVideoExport();
    bool endExport(const QString& question);
    bool mayClose();
    void cancel();
    void cancelOrClose();
    void showContext();
    void showAbout();

    QStringList damaged_;  ///< settings that could not be taken as they were
    Settings settings_;
    Theme theme_;
    Actions actions_;  ///< before the document, which speaks to them until its end
    Document document_;
    PhotoSession session_;
    WindowBars* bars_;
    Canvas* canvas_;
    ParamsPanel* panel_;
    StatusLine* status_;
    std::shared_ptr<baselines::ImplementationSwitch> implementations_;
    LiveSession live_;  ///< after what its signals reach
    BackgroundChooser* backgrounds_;
    PhotoControl* photos_;
    LiveControl* liveControl_;
    Profiles* profiles_;
    Recorder* recorder_;
    VideoExporter* exporter_;
    CompactWindow* compact_;
    std::unique_ptr<SettingsFile> settingsFile_;  ///< null: they are not kept
    const std::vector<std::filesystem::path> models_;
    bool closesNow_ = false;  ///< without a question
};

}  // namespace matte
