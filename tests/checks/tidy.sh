#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Not part of a full run. clang-tidy over every host .cpp of the product, and with TIDY_TESTS=1 of the tests too, as .clang-tidy says.
# Uses the compile commands of the Release build. A file is looked at again only when it, a header or the rules have
# changed.
. "$(dirname "$0")/check.sh"
buildForTests
mapfile -t built < <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\",*$|\1|p" build/tests/compile_commands.json | sort -u)
wanted() { git ls-files '*.cpp' | if [ "${TIDY_TESTS:-0}" = 1 ]; then cat; else grep -v ^tests/; fi | sort; }
mapfile -t files < <(comm -12 <(wanted) <(printf '%s\n' "${built[@]}"))
mapfile -t others < <(comm -23 <(wanted) <(printf '%s\n' "${built[@]}"))
if [ ${#others[@]} != 0 ]; then
    echo "    skipped, for this build has not compiled them: ${others[*]}"
    count skipped
fi
state=build/tidy
mkdir -p "$state"
# clang can't read gcc's precompiled headers; and a file that lacks an include shows without them.
sed 's/-Winvalid-pch -include [^ ]*//' build/tests/compile_commands.json >"$state/compile_commands.json"
headers=$( (git ls-files -z '*.h' && printf '.clang-tidy\0') | xargs -0 cat | sha256sum)

tidy() { # tidy FILE: prints what is wrong with it
    local mark
    mark=$state/$( (echo "$headers" && cat "$1") | sha256sum | cut -c1-32)
    [ -e "$mark" ] && return
    # Only gcc knows its own options in the compile commands.
    clang-tidy-14 --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null >"$mark.out" && touch "$mark" && rm "$mark.out" && return
    cat "$mark.out"
    rm "$mark.out"
    return 1
}
export -f tidy
export headers state
if printf '%s\n' "${files[@]}" | xargs -P 2 -I{} bash -c 'tidy {}' >"$state/found.txt"; then
    count passed
else
    # What stands in a header is found from each file that includes it.
    awk '/: (error|warning): / { shown = seen[$0]++ } !shown { print "    " $0 }' "$state/found.txt"
    count failed
fi
closeCheck
