#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs very many live frames through the real window and says what grew: memory, threads, file descriptors, OpenGL
# objects and, where there is an NVIDIA GPU, its memory. Not part of tests/run.sh: 100,000 frames take minutes on a GPU
# and up to hours without.
#
#   tests/gui/soak.sh BUILD [FRAMES [OPTIONS OF matte…]]
#   tests/gui/soak.sh build/release                                     # 100,000 frames of a small test person
#   tests/gui/soak.sh build/release 100000 --source test:person:1920x1080@max --require-gpu
#
# Without a display (DISPLAY is empty) it takes Xvfb's. Ends with 0 when nothing grew, 1 when something did, 77 when it
# can't run, and the window's own code when that failed.
set -euo pipefail

build=${1:?"name the build folder: tests/gui/soak.sh build/release"}
frames=${2:-100000}
shift $(($# < 2 ? $# : 2))
matte=$build/gui/matte
[[ -x $matte ]] || { echo "There is no $matte: build the target matte first." >&2; exit 77; }
# Small pictures and a small network, unless others are named: what leaks does so by the frame. Faster than any camera,
# and yet not so fast that the source alone takes a core.
given=()
[[ " $* " == *" --source "* ]] || given+=(--source test:person:64x48@1000)
[[ " $* " == *" --model "* ]] || given+=(--model "$(dirname "$0")/../data/unet_small.safetensors")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
screen=()
if [[ -z ${DISPLAY:-} ]]; then
  command -v xvfb-run >/dev/null || { echo "Without a display xvfb-run is needed: install xvfb." >&2; exit 77; }
  export QT_QPA_PLATFORM=xcb
  screen=(xvfb-run -a -s "-screen 0 1600x1000x24 +extension GLX")
fi

# The GPU's memory as its driver counts it, with what CUDA and OpenGL keep for themselves.
device_memory() {
  command -v nvidia-smi >/dev/null || return 0
  while sleep 5; do
    nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | tr '\n' ' ' || true
    echo
  done >"$folder/device.txt"
}
device_memory &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true; rm -rf "$folder"' EXIT

start=$SECONDS
"${screen[@]}" "$matte" --config "$folder/settings.ini" "${given[@]}" --background color:#204060 \
  --frames "$frames" --stats "$folder/run.json" "$@" &
window=$!
trap 'kill "$watcher" "$window" 2>/dev/null || true; rm -rf "$folder"' EXIT
wait "$window"
echo "$((SECONDS - start)) seconds"

python3 - "$folder" <<'PYTHON'
import json, os, sys

folder = sys.argv[1]
run = json.load(open(os.path.join(folder, "run.json")))
marks = run["footprint"]
settled = marks[len(marks) // 10]  # by then all is made that is made once
last = marks[-1]
print(run["engine"]["name"], "|", run["graphics"]["renderer"], "|", run["graphics"]["path"])
print("frames:", run["frames"], "a second:", {k: round(v, 1) for k, v in run["framesASecond"].items()})
print(f"{'frame':>9} {'memory MB':>10} {'threads':>8} {'files':>6} {'OpenGL':>7}")
for mark in marks[:: max(1, len(marks) // 10)] + [last]:
    print(f"{mark['frame']:>9} {mark['residentBytes'] / 1e6:>10.2f} {mark['threads']:>8} "
          f"{mark['fileDescriptors']:>6} {mark['glObjects']:>7}")
grown = []
for what in ("threads", "fileDescriptors", "glObjects"):
    if last[what] > settled[what]:
        grown.append(f"{what}: {settled[what]} to {last[what]}")
# An allocator breathes: what counts is the second half against the first, and more than a few pages.
middle = len(marks) // 2
first, second = (max(mark["residentBytes"] for mark in part) for part in (marks[len(marks) // 10:middle], marks[middle:]))
if second - first > 4_000_000:
    grown.append(f"memory: {first / 1e6:.1f} to {second / 1e6:.1f} MB")
device = os.path.join(folder, "device.txt")
if os.path.exists(device):
    lines = [[int(x) for x in line.split()] for line in open(device) if line.split()]
    if len(lines) > 2:
        print("MiB of the GPUs in use, after 10 s and at the end:", lines[1], lines[-1])
        if sum(lines[-1]) > sum(lines[1]) + 16:
            grown.append("the GPU's memory")
if run["frames"]["staleComposites"]:
    grown.append("stale composites")
print("grew: " + "; ".join(grown) if grown else "Nothing grew.")
sys.exit(1 if grown else 0)
PYTHON
