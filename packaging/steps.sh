# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Named, timed steps with one log, and one clear sentence when one of them fails. Sourced first by every script that has
# steps; those begin with `set -Eeuo pipefail`. A step's noise goes to the log.

startLog() { # startLog FILE: the log of everything that follows
    log=$1
    currentStep=
    mkdir -p "$(dirname "$log")"
    : >"$log"
    trap 'failed $?' ERR
}

step() { # step WHAT: ends the step before, begins the next
    endStep
    currentStep=$1
    stepStarted=$SECONDS
    echo "==> $currentStep" | tee -a "$log"
}

endStep() { if [ -n "$currentStep" ]; then echo "    $((SECONDS - stepStarted)) s"; fi; }

failed() {
    trap - ERR
    [ "$BASHPID" = $$ ] || exit "$1" # a subshell leaves the sentence to its parent
    endProgress
    tail -n 25 "$log" | sed 's/^/  | /' >&2
    giveUp "This step failed (exit status $1): $currentStep. Its whole output is in $log."
}

giveUp() {
    echo "${0##*/}: $1" >&2
    exit 1
}

# showProgress WHAT PERCENT: one line that keeps changing on a terminal, a line for every tenth elsewhere.
progressSeen=
showProgress() {
    if [ -t 1 ]; then
        printf '\r\033[K    %s %s %%' "$1" "$2"
    elif [ "$1 $(($2 / 10))" != "$progressSeen" ]; then
        progressSeen="$1 $(($2 / 10))"
        echo "    $1 $2 %"
    fi
}
endProgress() { if [ -t 1 ]; then printf '\r\033[K'; fi; }

# configureAndBuild FOLDER CMAKE_OPTION... [--target=NAME]...: a Release build unless an option says otherwise; shows how
# far it is, and every warning.
configureAndBuild() {
    local folder=$1 options=(-DCMAKE_BUILD_TYPE=Release) targets=() line
    shift
    while [ $# != 0 ]; do
        case $1 in --target=*) targets+=(--target "${1#*=}") ;; *) options+=("$1") ;; esac
        shift
    done
    if command -v ccache >/dev/null; then # which keeps nothing that a precompiled header went into
        options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
    fi
    cmake -S . -B "$folder" -G Ninja "${options[@]}" >>"$log" 2>&1
    NINJA_STATUS='%f/%t ' cmake --build "$folder" "${targets[@]}" 2>&1 | tee -a "$log" |
        while IFS= read -r line; do
            if [[ $line =~ ^([0-9]+)/([0-9]+)\  ]]; then
                showProgress compiling $((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
            elif [[ $line == *warning:* || $line == *error:* ]]; then
                endProgress
                echo "    $line"
            fi
        done
    endProgress
}
