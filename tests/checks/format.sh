#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every file of ours is formatted as .clang-format says. To mend: clang-format-14 -i FILE.
. "$(dirname "$0")/check.sh"
mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')
if clang-format-14 --dry-run -Werror "${files[@]}" >>"$log" 2>&1; then
    count passed
else
    grep -oE '^[^:]+' "$log" | grep -xFf <(printf '%s\n' "${files[@]}") | sort -u | sed 's/^/    FAILED: /' || tail "$log"
    count failed
fi
closeCheck
