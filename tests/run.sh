#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -Eeuo pipefail

usage() {
    cat <<'TEXT'
tests/run.sh [--quick] [CHECK...]

Installs what is missing from the distribution (Debian 12, Ubuntu 24.04), builds Matte and runs every test:
  release     everything optimised, warnings are errors; all tests, the window's under Xvfb
  tidy        clang-tidy over what has changed since the last release; before one, tests/checks/tidy.sh --all
  sanitizers  all tests but the window's and the longest under ASan, with UBSan in the product; line coverage of
              inference, at least 85 %
  fuzz        each libFuzzer target for a minute
  format      clang-format
  python      ruff: rules and format of the Python; skipped where it is missing
  sizes       no file too long, no folder too full
and, when named:
  inputs      the network on the CPU at every input size, with each instruction set that the processor has
  threads     ThreadSanitizer over what has several threads
  windows     Windows' cameras, compiled with MinGW-w64 and tried on Wine where that is installed
Given names, it runs those alone; --quick stands for `release`. Each can also be run as tests/checks/NAME.sh.
A second run only does what has changed. Logs are kept in build/logs. Ends in `N passed, N failed, N skipped`.
TEXT
}

checks=()
all=(release tidy sanitizers fuzz format python sizes)
for argument; do
    case $argument in
        -h | --help) usage && exit ;;
        --quick) checks+=(release) ;;
        *) [ -f "$(dirname "$0")/checks/$argument.sh" ] && [ "$argument" != check ] ||
            { echo "run.sh: there is no check '$argument'; see --help." >&2 && exit 2; }
            checks+=("$argument") ;;
    esac
done
[ ${#checks[@]} != 0 ] || checks=("${all[@]}")

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. packaging/steps.sh
. packaging/dependencies.sh
startLog "$PWD/build/logs/run.txt"

step "Looking for what the tests need from the distribution"
installPackages "${buildPackages[@]}" "${testPackages[@]}"

passed=0 failed=0 skipped=0
for check in "${checks[@]}"; do
    step "$check"
    result=$log.$check
    "tests/checks/$check.sh" 2>&1 | tee "$result" || true
    # A check that broke before its closing line is one failure.
    counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$result" | tail -n 1)
    read -r a b c <<<"${counts:-0 1 0}"
    passed=$((passed + a)) failed=$((failed + b)) skipped=$((skipped + c))
done
endStep
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
