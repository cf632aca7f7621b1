#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/checks/tidy.sh [--all]: clang-tidy, as .clang-tidy says, over the host's .cpp files of product and tests that have
# changed since the last release's tag, or include a header that has; --all: over every one. A file that was only renamed
# has not changed. Without a tag, as in a shallow clone: since twenty commits ago, or the first that the clone has.
# Changed files come first, then one that includes each changed header, then the others. After TIDY_SECONDS (60) no more
# are begun; what is left is told and counted as skipped: before a release, --all looks at it.
# Uses the compile commands of the release check's build. A file is looked at again only when it, a header of ours that it
# includes or the rules have changed.
. "$(dirname "$0")/check.sh"
buildForTests
state=build/tidy
mkdir -p "$state"

# One command for each file, also where several programs share it. clang can't read gcc's precompiled headers; and a
# file that lacks an include shows without them.
awk 'BEGIN { RS = "},?\n" } match($0, /"file": "[^"]*"/) && !seen[substr($0, RSTART, RLENGTH)]++ {
         gsub(/-Winvalid-pch -include [^ ]*/, "")
         printf "%s%s}", many++ ? ",\n" : "[\n", substr($0, index($0, "{"))
     } END { print "\n]" }' build/tests/compile_commands.json >"$state/compile_commands.json"
git ls-files >"$state/tracked"
sed -n "s|^ *\"file\": \"$PWD/\(.*\.cpp\)\",*$|\1|p" "$state/compile_commands.json" | sort | comm -12 - <(sort "$state/tracked") >"$state/built"
# Lines of a .cpp file and something of ours that it includes, as the compiler told ninja.
ninja -C build/tests -t deps | awk -v here="$PWD/" 'NR == FNR { ours[$0]; next }
    /#deps/ { source = ""; next }
    { file = $1; sub(/^(\.\.\/\.\.|headers\/[^\/]*)\//, "", file); if (index(file, here) == 1) file = substr(file, length(here) + 1) }
    !(file in ours) { next }
    source == "" { source = file; next }
    { print source, file }' "$state/tracked" - | sort -u >"$state/includes"

# changed SINCE: our files whose content is not what it was.
changed() { git diff --name-only -M100% --diff-filter=AMT "$1" -- .clang-tidy '*.cpp' '*.h'; }
# chosen SINCE: what to look at, the most telling first.
chosen() {
    changed "$1" >"$state/changed"
    if grep -qx .clang-tidy "$state/changed"; then cat "$state/built" && return; fi
    awk 'FILENAME ~ /changed$/ { changed[$0]; next }
         FILENAME ~ /built$/ { if ($0 in changed) print; built[$0]; next }
         ($2 in changed) && ($1 in built) && !($1 in changed) {
             if (!told[$2]++) { if (!listed[$1]++) print $1 } else other[$1]
         }
         END { for (file in other) if (!listed[file]) print file }' "$state/changed" "$state/built" "$state/includes"
}

if [ "${1-}" = --all ]; then
    limit=1000000
    mapfile -t files <"$state/built"
    mapfile -t absent < <(grep '\.cpp$' "$state/tracked" | sort | comm -23 - "$state/built")
else
    limit=${TIDY_SECONDS:-60}
    since=$(git describe --tags --abbrev=0 --match 'v*' 2>>"$log" || git rev-list --first-parent --max-count=21 HEAD | tail -n 1)
    mapfile -t files < <(chosen "$since")
    mapfile -t absent < <(grep '\.cpp$' "$state/changed" | sort | comm -23 - "$state/built")
    echo "    since $(git describe --tags --always "$since"): $(wc -l <"$state/changed") files have changed, ${#files[@]} to look at"
    if [ "$(git rev-parse "$since^{commit}")" = "$(git rev-parse HEAD)" ] && ! git rev-parse -q --verify 'HEAD^' >>"$log"; then
        echo "    skipped, for this clone has neither a tag nor an earlier commit to compare with"
        count skipped
    fi
fi
if [ ${#absent[@]} != 0 ]; then
    echo "    skipped, for this build has not compiled them: ${absent[*]}"
    count skipped
fi

tidy() { # tidy FILE: prints what is wrong with it
    local mark
    mark=$state/$(awk -v file="$1" '$1 == file { print $2 }' "$state/includes" | xargs sha256sum .clang-tidy "$1" | sha256sum | cut -c1-32)
    [ -e "$mark" ] && return
    if [ "$EPOCHSECONDS" -ge "$until" ]; then echo "$1" >>"$state/left" && return; fi
    # Only gcc knows its own options in the compile commands.
    clang-tidy-14 --quiet -p "$state" --extra-arg=-Wno-unknown-warning-option "$1" 2>"$mark.err" >"$mark.out" && touch "$mark" && rm "$mark".* && return
    echo "FAILED: $1"
    if [ -s "$mark.out" ]; then cat "$mark.out"; else cat "$mark.err"; fi
    rm "$mark".*
    return 1
}
export -f tidy
export state until=$((EPOCHSECONDS + limit))
: >"$state/left"
if printf '%s\n' "${files[@]}" | nice xargs -r -P "$(nproc)" -I{} bash -c 'tidy {}' >"$state/found.txt"; then
    count passed
else
    # What stands in a header is found from each file that includes it.
    awk '/: (error|warning): / { shown = seen[$0]++ } !shown { print "    " $0 }' "$state/found.txt"
    count failed
fi
if [ -s "$state/left" ]; then
    echo "    skipped after $limit s: $(wc -l <"$state/left") files; tests/checks/tidy.sh --all looks at all"
    count skipped
fi
closeCheck
