// SPDX-License-Identifier: Apache-2.0
// MainWindow: puts the parts together and connects them; each part does its own work. GUI thread.
#pragma once

#include <QMainWindow>
#include <QSettings>

#include <optional>

#include "gui/actions.h"
#include "gui/document.h"
#include "gui/photo_session.h"
#include "gui/settings.h"
#include "gui/theme.h"

class QMimeData;

namespace matte {

class Canvas;
class LookPanel;
class StatusLine;
class WindowBars;

class MainWindow : public QMainWindow {
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(MainWindow)

public:
    /// Reads the settings from `store`, and writes them there when it is closed. `background` goes before the one that
    /// was remembered.
    MainWindow(PhotoSession::EngineFactory makeEngine,
               QSettings& store,
               const std::optional<Background>& background = {});
    ~MainWindow() override;

    void openPhoto(const PhotoSource& source) { session_.open(source); }
    void setBackgroundPicture(const QString& path) { session_.loadBackground(path); }
    void exportTo(const QString& path);
    void setShowing(Showing showing);

    [[nodiscard]] Document& document() { return document_; }
    [[nodiscard]] PhotoSession& session() { return session_; }
    [[nodiscard]] Actions& actions() { return actions_; }
    [[nodiscard]] Canvas& canvas() { return *canvas_; }
    [[nodiscard]] LookPanel& panel() { return *panel_; }
    [[nodiscard]] StatusLine& status() { return *status_; }
    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] Showing showing() const { return showing_; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    void arrange();
    void connectSession();
    void connectFiles();
    void connectView();
    void connectLook();
    void restoreSettings(const std::optional<Background>& background);

    void photoOpened(const OpenedPhoto& photo);
    void pictureRendered(const Rendered& picture);
    void backgroundLoaded(const QString& path, const std::shared_ptr<const Image>& image);
    void pictureExported(const QString& path);
    void take(const QMimeData& incoming);
    void openSample();
    void requestRender();
    void copy(bool withBackground);
    void cancelOrClose();
    void showAbout();
    void saveSettings();

    QSettings& store_;
    Settings settings_;
    Theme theme_;
    Actions actions_;  ///< before the document, which speaks to them until its end
    Document document_;
    PhotoSession session_;
    WindowBars* bars_;
    Canvas* canvas_;
    LookPanel* panel_;
    StatusLine* status_;
    Showing showing_ = Showing::result;
    std::optional<RenderRequest> requested_;
    QString rememberedPicture_;  ///< read at the start; arrives without an undo step
    QString engineName_;
};

}  // namespace matte
