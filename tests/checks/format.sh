#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every file of ours is formatted as .clang-format says (to mend: clang-format-14 -i FILE), and no test sleeps: it waits
# for what it waits for (tests/support/running: eventually.h, gate.h, paced.h). Where a sleep is what is played, such as a
# camera's rate, its line says so: `// paces`.
. "$(dirname "$0")/check.sh"
mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')
if clang-format-14 --dry-run -Werror "${files[@]}" >>"$log" 2>&1; then
    count passed
else
    grep -oE '^[^:]+' "$log" | grep -xFf <(printf '%s\n' "${files[@]}") | sort -u | sed 's/^/    FAILED: /' || tail "$log"
    count failed
fi
mapfile -t tests < <(git ls-files 'tests/*.h' 'tests/*.cpp' 'tests/*.cu')
if grep -nE 'sleep_for|sleep_until|usleep|nanosleep|msleep|::sleep\(|qSleep|qWait\(' "${tests[@]}" | grep -v '// paces'; then
    count failed
else
    count passed
fi
closeCheck
