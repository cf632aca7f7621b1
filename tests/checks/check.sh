# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What every check begins with. A check is a script in this folder that tests/run.sh runs, or a person alone; it prints
# what it finds, keeps its noise in build/logs, and ends in the line `N passed, N failed, N skipped`.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. packaging/steps.sh
. packaging/dependencies.sh
startLog "$PWD/build/logs/$(basename "$0" .sh).txt"
currentStep="the check $(basename "$0" .sh)"

passed=0 failed=0 skipped=0
count() { # count passed|failed|skipped [HOW_MANY]
    printf -v "$1" %d $((${!1} + ${2-1}))
}

# The last call of every check.
closeCheck() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] || exit 1
}

# The build that the release tests and clang-tidy share.
buildForTests() { configureAndBuild build/tests -DMATTE_WERROR=ON -DMATTE_BENCH=ON; }

# runTests FOLDER [CTEST OPTIONS]: ctest in a build folder; shows the output of what failed and why something was skipped.
runTests() {
    local folder=$1 report=$PWD/$1/tests.xml status=0 line all bad left
    shift
    rm -f "$report"
    ctest --test-dir "$folder" --parallel 2 --timeout 300 --output-junit "$report" "$@" 2>&1 | tee -a "$log" |
        while IFS= read -r line; do
            if [[ $line =~ ^\ *([0-9]+)/([0-9]+)\ Test ]]; then showProgress testing $((100 * BASH_REMATCH[1] / BASH_REMATCH[2])); fi
        done || status=$?
    endProgress
    awk '/<testcase/ { split($0, part, "\""); name = part[2]; state = "" }
         /status="fail"/ { state = "FAILED" }
         /<skipped/ { state = "skipped" }
         state && sub(/.*<system-out>/, "") { print "    " state ": " name; inside = 1 }
         { ended = sub(/[ \t]*<\/system-out>.*/, "") }
         inside && NF && (state == "FAILED" || !/^\[|^Note:|^Running main|: Skipped$/) { print "        " $0 }
         ended { inside = 0 }' "$report" | sed "s/&lt;/</g; s/&gt;/>/g; s/&quot;/\"/g; s/&apos;/'/g; s/&amp;/\&/g"
    all=$(sed -n 's/^\ttests="\(.*\)"/\1/p' "$report") bad=$(sed -n 's/^\tfailures="\(.*\)"/\1/p' "$report")
    left=$(sed -n 's/^\tskipped="\(.*\)"/\1/p' "$report")
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1 all=$((all + 1)); fi
    count passed $((all - bad - left))
    count failed "$bad"
    count skipped "$left"
}
