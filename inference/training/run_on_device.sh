#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One stage of training on a GPU machine, from the repository's root; each ends well inside ten minutes. State lies in $WORK, results go to $OUT.
#
#   run_on_device.sh stash                                   keep the packs that came along
#   run_on_device.sh train NAME MINUTES TOTAL [train.py options]   go on training NAME, then export, score and draw
#
# Packs in .train are kept as well. NAME is portrait or portrait-lite. When a machine was lost, put the model file that came back where train.py can
# read it and add: --init FILE --elapsed MINUTES. GPUS=4 trains on four GPUs.
set -u
WORK=${WORK:-/tmp/train}
OUT=${OUT:-$WORK/out}
HERE=$(cd "$(dirname "$0")" && pwd)
export PYTHONUNBUFFERED=1
mkdir -p "$WORK/data" "$OUT"

for pack in .train/*.zip .train/*/*.zip; do
    [ -e "$pack" ] && cp "$pack" "$WORK/data/"
done
ls -l "$WORK/data"
stage=${1:?stage: stash or train}
[ "$stage" = stash ] && exit 0

name=$2 minutes=$3 total=$4
shift 4
run="$WORK/$name"
mkdir -p "$run"
nvidia-smi -L 2>/dev/null
launch="python3"
[ "${GPUS:-1}" -gt 1 ] && launch="torchrun --standalone --nproc-per-node $GPUS"

# The time limit only ends a run that hangs: what it last saved is exported all the same.
limit=$(python3 -c "print(int($minutes * 60 + 60))")
timeout -k 5 "$limit" $launch "$HERE/train.py" "$WORK/data" --model "$name" --out "$run" --minutes "$minutes" --total-minutes "$total" "$@" 2>&1 |
    tee "$OUT/$name.log"

side=384
[ "$name" = portrait-lite ] && side=256
model="$OUT/$name.safetensors"
commit=${COMMIT:-unknown}
python3 "$HERE/export.py" "$run/checkpoint.pt" "$model" --longest-side $side --commit "$commit" || exit 1
cp "$model" "$WORK/$name.safetensors"
timeout 100 python3 "$HERE/evaluate.py" "$WORK/data" "$model" --beside resources/models/portrait.safetensors \
    --json "$OUT/$name.json" --sheet "$OUT/$name.jpg" --sheet-size $side 2>&1 | tee -a "$OUT/$name.log"
[ -s "$OUT/$name.json" ] && python3 "$HERE/export.py" "$run/checkpoint.pt" "$model" --longest-side $side --commit "$commit" --scores "$OUT/$name.json"
ls -l "$OUT"
