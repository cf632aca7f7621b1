#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Not part of a full run. What Matte has for Windows, its cameras, compiled with MinGW-w64, and tried on Wine where that
# is installed: made-up cameras behind Wine's Media Foundation. No real camera and no real Windows.
. "$(dirname "$0")/check.sh"
installPackages g++-mingw-w64-x86-64-posix
folder=build/windows
if { cmake -S tests/windows -B $folder -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Windows \
    -DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++-posix && cmake --build $folder; } >>"$log" 2>&1; then
    count passed
else
    grep -E 'error|undefined reference' "$log" | sed 's/^/    FAILED: /' || tail "$log"
    count failed
    closeCheck
fi
if ! command -v wine >/dev/null; then
    echo "    skipped, for there is no Wine to run it on: $folder/camera_check.exe"
    count skipped
    closeCheck
    exit
fi
export WINEPREFIX=$PWD/$folder/wine WINEDEBUG=-all
timeout 300 wine $folder/camera_check.exe 2>>"$log" | tee "$folder/camera_check.txt" || true
count passed "$(grep -c '^    passed: ' "$folder/camera_check.txt" || true)"
count failed "$(grep -c '^    FAILED: ' "$folder/camera_check.txt" || true)"
if ! grep -qE '^    (passed|FAILED): nothing hangs' "$folder/camera_check.txt"; then
    echo "    FAILED: it did not come to its end; its output is in $folder/camera_check.txt"
    count failed
fi
closeCheck
