#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No file over 500 lines, no kernel file over 800, no folder with more than 40 files of code. Functions over 80 lines are
# refused by clang-tidy.
. "$(dirname "$0")/check.sh"
check() { # check LIMIT PATTERN...
    local limit=$1 long
    shift
    mapfile -t files < <(git ls-files "$@")
    [ ${#files[@]} != 0 ] || return 0
    long=$(wc -l "${files[@]}" | awk -v limit="$limit" '$2 != "total" && $1 > limit { print "    FAILED: " $2 " has " $1 " lines, and may have " limit }')
    wc -l "${files[@]}" | awk '$2 != "total" { print $1 }' | sort -n |
        awk -v what="$*" '{ n[NR] = $1 } END { print "    " what ": " NR " files, median " n[int((NR + 1) / 2)] ", longest " n[NR] " lines" }'
    if [ -n "$long" ]; then echo "$long" && count failed; else count passed; fi
}
check 500 '*.h' '*.cpp' '*.py' '*.sh' '*CMakeLists.txt' '*.cmake'
check 800 '*.cu' '*.cuh'
crowded=$(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' '*.py' '*.sh' | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 40 { print "    FAILED: " $2 " has " $1 " files, and may have 40" }')
if [ -n "$crowded" ]; then echo "$crowded" && count failed; else count passed; fi
closeCheck
