#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# AddressSanitizer, leaks and the standard library's assertions over everything but the window, UndefinedBehaviorSanitizer
# over all of that but the tests' own code; the same run measures the line coverage of inference/, which has to be 85 % or more.
. "$(dirname "$0")/check.sh"
leastCoverage=85
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/checks/leaks.txt:print_suppressions=0
find build/sanitizers -name '*.gcda' -delete 2>/dev/null || true
configureAndBuild build/sanitizers -DCMAKE_BUILD_TYPE=Debug -DMATTE_SANITIZE=address,undefined -DMATTE_COVERAGE=ON \
    -DMATTE_GUI=OFF -DMATTE_CUDA=OFF

# Left out: what measures time, and what calculates for a minute with code that shorter tests go through too.
leftOut=Bench.*:ProcessorRates.AreMeasured*:LabCommand.Shows*:LabCommand.HoldsTheNetwork*:EvaluateCommand.ScoresTheSynthetic*
leftOut+=:TwoPassRefinement.FindsMore*:TwoPassRefinement.IsNotTakenAtPeople*
# And every size of the network, and what limits the size of files: coverage is written into files, which break off there.
leftOut+=:Scarcity.AFileThatMayNotGrow*:*NetworkSizes*/Portrait
leftOut+=:TemporalFilter.SlowMotion*:TemporalFilter.Flicker*:TemporalFilter.AMovingHand*:Cli.StopsCleanlyWhenInterrupted
runGoogleTests build/sanitizers/tests/matte_tests --gtest_filter="-$leftOut"
runTests build/sanitizers --tests-regex "^(camera\\.|training\\.agreement)"

gcovr --root . --object-directory build/sanitizers --filter inference/ --exclude-throw-branches --exclude-unreachable-branches \
    --gcov-ignore-parse-errors --json-summary build/sanitizers/coverage.json --print-summary -j 2 2>>"$log" | sed 's/^/    /' | tee -a "$log"
covered=$(sed -n 's/^    lines: \([0-9.]*\)%.*/\1/p' "$log" | tail -n 1)
if awk "BEGIN { exit !($covered >= $leastCoverage) }"; then
    echo "    line coverage of inference: $covered %"
    count passed
else
    echo "    FAILED: line coverage of inference is $covered %, and has to be $leastCoverage % or more"
    count failed
fi
closeCheck
