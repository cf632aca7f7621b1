#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# AddressSanitizer, leaks, UndefinedBehaviorSanitizer and the standard library's assertions over everything but the
# window; the same run measures the line coverage of inference/, which has to be 85 % or more.
. "$(dirname "$0")/check.sh"
leastCoverage=85
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/checks/leaks.txt:print_suppressions=0
find build/sanitizers -name '*.gcda' -delete 2>/dev/null || true
configureAndBuild build/sanitizers -DCMAKE_BUILD_TYPE=Debug -DMATTE_SANITIZE=address,undefined -DMATTE_COVERAGE=ON \
    -DMATTE_GUI=OFF -DMATTE_CUDA=OFF
# Benchmarks only wait here.
runTests build/sanitizers --exclude-regex "^Bench\\."

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
