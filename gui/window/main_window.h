// SPDX-License-Identifier: Apache-2.0
// MainWindow: puts the parts together and connects them; each part does its own work. GUI thread.
#pragma once

#include <QMainWindow>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "gui/app/settings.h"
#include "gui/app/theme.h"
#include "gui/live/live_report.h"
#include "gui/live/live_session.h"
#include "gui/photo/document.h"
#include "gui/photo/photo_session.h"
#include "gui/window/actions.h"
#include "inference/media/virtual_camera/virtual_camera.h"

class QMimeData;
class QSettings;

namespace matte {

class CompactWindow;
class CameraFeed;
class Canvas;
class LiveControl;
class ParamKeys;
class ParamsPanel;
class Profiles;
class SettingsFile;
class Snapshots;
class StatusLine;
class VideoExporter;
class WindowBars;

/// What the command line, or a test, has to say.
struct Startup {
    std::optional<Background> background{};  ///< goes before the one that was remembered
    MakeLiveEngines makeLiveEngines{};       ///< for live mode, which needs it
    MakeLiveEngines makeVideoEngines{};      ///< for videos that are written, which need it
    LiveSession::OpenSource open = LiveSession::openNamed;
    std::function<std::unique_ptr<VirtualCamera>(const std::stop_token&)> openVirtualCamera{};  ///< none: the real one
    std::shared_ptr<baselines::ImplementationSwitch>
        implementations{};                        ///< of the live engine; none: it has no choice of implementations
    std::vector<std::filesystem::path> models{};  ///< files that nothing is written over
    bool interop = true;                          ///< live pictures may stay on the GPU
    bool keepSettings = true;                     ///< false: what is changed is forgotten
    bool watchCameras = true;                     ///< false: the list of cameras stays empty until it is set
};

/// The background picture that was asked for last, while it is being read.
struct AwaitedPicture {
    std::string path;
    std::optional<ParamControl> control{};  ///< of the step that it makes; none: remembered from the last time
    Background before{};                    ///< what stands there meanwhile
    std::optional<Background> laid{};       ///< how a profile lays it; none: as what stands there
    int step = 0;                           ///< of which it is a part; none for a step of its own
    int since = 0;  ///< the last step when it was asked for; with that undone it is wanted no more
};

class MainWindow : public QMainWindow {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(MainWindow)

public:
    /// Reads the settings from `store`, and writes them there soon after each change. `makeEngine` is called for the
    /// photos.
    MainWindow(const PhotoSession::EngineFactory& makeEngine, QSettings& store, const Startup& startup = {});
    ~MainWindow() override;

    /// Once it is cut out it is shown, unless live mode was entered, or started, until then.
    void openPhoto(const PhotoSource& source);
    /// A picture or a video, once it was read; unless another background was chosen until then.
    void setBackgroundPicture(const QString& path);
    void exportTo(const QString& path) { exportTo(path, document_.photo().number); }
    void exportTo(const QString& path, int photo);
    /// Writes the whole video with what stands behind the person now; live mode's source stops for it.
    void exportVideo(const QString& video, const QString& path);
    /// Closes without asking: a signal or the end of the session does not wait. A video that is being written is given
    /// up, the cameras are let go, and the settings are written.
    void closeNow();
    void setShowing(Showing showing);
    void setMode(Mode mode);
    /// Enters live mode with what `text` names, as parseSource() reads it, and starts; empty text is nothing.
    void goLive(const QString& text);
    /// Takes over a profile's parameters, as one step, and its source. An index that is none changes nothing.
    void applyProfile(int index);
    [[nodiscard]] Profiles& profiles() { return *profiles_; }
    [[nodiscard]] VideoExporter& exporter() { return *exporter_; }
    [[nodiscard]] Snapshots& snapshots() { return *snapshots_; }
    [[nodiscard]] CompactWindow& compact() { return *compact_; }

    /// Of the photos; without a name until it is made.
    [[nodiscard]] const EngineInfo& engine() const { return engine_; }
    /// A background picture was asked for, and neither came nor was given up.
    [[nodiscard]] bool awaitsBackground() const { return awaited_.has_value(); }
    [[nodiscard]] Document& document() { return document_; }
    [[nodiscard]] PhotoSession& session() { return session_; }
    /// What is known of the live run up to now.
    [[nodiscard]] LiveReport report() const;
    /// What the program holds of the system now.
    [[nodiscard]] Footprint footprint() const;
    [[nodiscard]] baselines::ImplementationStatus implementationStatus() const {
        return implementations_ ? implementations_->status() : baselines::ImplementationStatus{};
    }
    [[nodiscard]] LiveSession& live() { return live_; }
    [[nodiscard]] LiveControl& liveControl() { return *liveControl_; }
    [[nodiscard]] WindowBars& bars() { return *bars_; }
    [[nodiscard]] Actions& actions() { return actions_; }
    [[nodiscard]] Canvas& canvas() { return *canvas_; }
    [[nodiscard]] ParamsPanel& panel() { return *panel_; }
    [[nodiscard]] StatusLine& status() { return *status_; }
    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] Showing showing() const { return showing_; }

Q_SIGNALS:
    // What the photos' session says, from its first word on for who connects before the event loop runs.
    void engineKnown(const matte::EngineInfo& info);
    void failed(const QString& sentence, matte::ErrorCategory category);
    /// No picture is awaited any longer: it stands behind the person, or was given up.
    void backgroundSettled();

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
    void connectSession();
    void connectFiles();
    void connectView();
    void connectParams();
    void connectLive();
    void connectRecords();
    void connectFeed();
    void connectProfiles();
    void connectExporter();
    void connectSettings();
    void askForVideoExport();
    bool endExport(const QString& question);
    bool mayClose();
    [[nodiscard]] std::vector<std::filesystem::path> filesRead() const;
    void watchCameras();
    void restoreSettings(const std::optional<Background>& background);

    void photoOpened(const OpenedPhoto& photo);
    void pictureRendered(const Rendered& picture);
    void awaitPicture(AwaitedPicture picture);
    void giveUpPicture();
    [[nodiscard]] CompositeParams wantedParams() const;
    [[nodiscard]] bool isStandIn(const Background& background) const;
    void backgroundLoaded(const Background& read);
    void backgroundFailed(const QString& path);
    void backgroundChanged(Background now);
    void undo();
    void pictureExported(const QString& path);
    void take(const QMimeData& incoming);
    void takeLive(const QString& file);
    void openSample();
    void requestRender();
    void showContext();
    [[nodiscard]] CompositeParams photoParams() const;
    void copy(bool withBackground);
    void cancel();
    void cancelOrClose();
    void showAbout();
    [[nodiscard]] Settings settingsNow();

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
    LiveControl* liveControl_;
    ParamKeys* keys_;
    Profiles* profiles_;
    Snapshots* snapshots_;
    CameraFeed* feed_;
    VideoExporter* exporter_;
    CompactWindow* compact_;
    std::unique_ptr<SettingsFile> settingsFile_;  ///< none: they are not kept
    Showing showing_ = Showing::result;
    const std::vector<std::filesystem::path> models_;
    bool closesNow_ = false;     ///< whatever would be asked
    bool photoAwaited_ = false;  ///< one is being opened, and nobody went live since
    std::optional<RenderRequest> requested_;
    std::optional<AwaitedPicture> awaited_;
    std::optional<Background> standIn_;  ///< for a remembered picture that could not be read (yet)
    EngineInfo engine_;                  ///< of the photos
};

}  // namespace matte
