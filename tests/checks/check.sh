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

# As many tests at a time as there are cores, and one more, for many wait for time to pass.
processes=$(($(nproc) + 1))

# The last call of every check.
closeCheck() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] || exit 1
}

# The build that the release tests and clang-tidy share.
buildForTests() { configureAndBuild build/tests -DMATTE_WERROR=ON -DMATTE_BENCH=ON; }

# runGoogleTests PROGRAM [OPTION...]: the program's tests in shards. A process for each test, as ctest has it, would take
# longer to start than most tests take. What each shard printed stays in PROGRAM.shardN.txt.
runGoogleTests() {
    local program=$1 shards=$processes i report status all good bad left running=()
    shift
    for ((i = 0; i < shards; ++i)); do
        GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout 900 "$program" "$@" >"$program.shard$i.txt" 2>&1 &
        running[i]=$!
    done
    for ((i = 0; i < shards; ++i)); do
        report=$program.shard$i.txt status=0
        wait "${running[i]}" || status=$?
        printGoogleTests "$report"
        all=$(sed -nE 's/^\[=+\] Running ([0-9]+) tests? from .*/\1/p' "$report")
        good=$(grep -cE '\[       OK \] .*\([0-9]+ ms\)$' "$report" || true)
        bad=$(grep -cE '\[  FAILED  \] .*\([0-9]+ ms\)$' "$report" || true)
        left=$(grep -cE '\[  SKIPPED \] .*\([0-9]+ ms\)$' "$report" || true)
        count passed "$good"
        count failed "$bad"
        count skipped "$left"
        # A crash, or a failure outside the tests, is one failure more.
        if [ $((good + bad + left)) != "${all:-none}" ] || { [ "$status" != 0 ] && [ "$bad" = 0 ]; }; then
            echo "    FAILED: ${program##*/} ended with status $status after $((good + bad + left)) of its ${all:-0} tests in shard $i:"
            tail -n 60 "$report" | sed 's/^/        /'
            count failed
        fi
    done
}

# printGoogleTests REPORT: the output of what failed and why something was skipped.
printGoogleTests() {
    awk '/^\[ RUN / { text = "" }
         !/^\[ RUN |: Skipped$/ && NF { text = text "        " $0 "\n" }
         match($0, /\[  (FAILED |SKIPPED) \] .*\([0-9]+ ms\)$/) {
             name = substr($0, RSTART + 13)
             printf "    %s: %s\n", /\[  FAILED / ? "FAILED" : "skipped", name
             sub(/[^\n]*\n$/, "", text)
             printf "%s", text
             text = ""
         }' "$1"
}

# runTests FOLDER [CTEST OPTIONS]: ctest in a build folder; shows the output of what failed and why something was skipped.
runTests() {
    local folder=$1 report=$PWD/$1/tests.xml status=0 line all bad left
    shift
    rm -f "$report"
    ctest --test-dir "$folder" --parallel "$processes" --timeout 300 --output-junit "$report" "$@" 2>&1 | tee -a "$log" |
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
