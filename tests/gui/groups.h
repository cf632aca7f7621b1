// SPDX-License-Identifier: Apache-2.0
// The groups of window tests. Each runs its tests with Qt Test's options and returns how many failed. GUI thread.
#pragma once

namespace matte::test {

int runDocumentTests(int argc, char** argv);
int runSessionTests(int argc, char** argv);
int runViewportTests(int argc, char** argv);
int runParamsTests(int argc, char** argv);
int runVideoTests(int argc, char** argv);
int runFeedTests(int argc, char** argv);
int runVideoExportTests(int argc, char** argv);
int runWindowTests(int argc, char** argv);
int runToolsTests(int argc, char** argv);
int runExportTests(int argc, char** argv);
int runLiveTests(int argc, char** argv);
int runLiveFaultTests(int argc, char** argv);
int runEngineSwitchTests(int argc, char** argv);
int runImplementationTests(int argc, char** argv);
int runLiveViewTests(int argc, char** argv);
int runProfileTests(int argc, char** argv);
int runLeakTests(int argc, char** argv);
int runSettingsTests(int argc, char** argv);
int runProgramTests(int argc, char** argv);
int runHeadlessTests(int argc, char** argv);

}  // namespace matte::test
