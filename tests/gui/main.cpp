// SPDX-License-Identifier: Apache-2.0
// gui_tests GROUP [Qt Test options]: runs one group of window tests; ScreenWatch is the helper of one of them.
#include <QApplication>
#include <QSurfaceFormat>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "tests/gui/groups.h"
#include "tests/gui/screen_watch.h"

int main(int argc, char** argv) {
    using Group = int (*)(int, char**);
    const std::map<std::string, Group> groups{{"Document", matte::test::runDocumentTests},
                                              {"Session", matte::test::runSessionTests},
                                              {"Viewport", matte::test::runViewportTests},
                                              {"Params", matte::test::runParamsTests},
                                              {"Video", matte::test::runVideoTests},
                                              {"Window", matte::test::runWindowTests},
                                              {"Tools", matte::test::runToolsTests},
                                              {"Export", matte::test::runExportTests},
                                              {"Live", matte::test::runLiveTests},
                                              {"LiveFault", matte::test::runLiveFaultTests},
                                              {"LiveView", matte::test::runLiveViewTests},
                                              {"EngineSwitch", matte::test::runEngineSwitchTests},
                                              {"Implementation", matte::test::runImplementationTests},
                                              {"Profile", matte::test::runProfileTests},
                                              {"Leak", matte::test::runLeakTests},
                                              {"ScreenWatch", matte::test::runScreenWatch},
                                              {"Settings", matte::test::runSettingsTests},
                                              {"Program", matte::test::runProgramTests},
                                              {"Headless", matte::test::runHeadlessTests},
                                              {"VideoExport", matte::test::runVideoExportTests},
                                              {"Feed", matte::test::runFeedTests}};
    const auto group = groups.find(argc > 1 ? argv[1] : "");
    if (group == groups.end()) {
        std::fputs("gui_tests: name a group:", stderr);
        for (const auto& known : groups) std::fprintf(stderr, " %s", known.first.c_str());
        std::fputs("\n", stderr);
        return 2;
    }
    QSurfaceFormat format;
    format.setVersion(3, 3);
    format.setProfile(QSurfaceFormat::CoreProfile);
    QSurfaceFormat::setDefaultFormat(format);
    QApplication app(argc, argv);
    argv[1] = argv[0];
    return group->second(argc - 1, argv + 1);
}
