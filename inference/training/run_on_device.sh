#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One stage of training on a GPU machine, from the repository's root; each ends well inside ten minutes. State lies in $WORK, results go to $OUT.
#
#   run_on_device.sh stash                                   keep the packs that came along
#   run_on_device.sh train NAME MINUTES TOTAL [train.py options]   go on training NAME, score it, export it
#
# Packs in .train are kept as well. NAME is portrait or portrait-lite. When a machine was lost, put the model file that came back where train.py can
# read it and add: --init FILE --elapsed MINUTES (or steps, with --steps). GPUS=4 trains on four GPUs. COMMIT is noted in the model file; CONTRAST is
# export.py's: 1 for a model that others go on from.
set -u
WORK=${WORK:-/tmp/train}
OUT=${OUT:-$WORK/out}
HERE=$(cd "$(dirname "$0")" && pwd)
export PYTHONUNBUFFERED=1
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}  # two runs beside each other, each with a thread for every core, took ten times as long to load the photos
mkdir -p "$WORK/data" "$OUT"

for pack in .train/*.zip .train/*/*.zip; do
    [ -e "$pack" ] && cp "$pack" "$WORK/data/"
done
ls -l "$WORK/data"
nvidia-smi --query-gpu=name,power.draw --format=csv,noheader 2>/dev/null
stage=${1:?stage: stash or train}
[ "$stage" = stash ] && exit 0

name=$2 minutes=$3 total=$4
shift 4
run="$WORK/$name"
mkdir -p "$run"

# Power in the middle of the run, for the model card.
(sleep "$(python3 -c "print(int($minutes * 30))")" && nvidia-smi --query-gpu=power.draw,utilization.gpu --format=csv,noheader 2>/dev/null >"$run/power") &

# The time limit only ends a run that hangs: what it last saved is exported all the same.
limit=$(python3 -c "print(int($minutes * 60 + 75))")
timeout -k 5 "$limit" python3 "$HERE/train.py" "$WORK/data" --model "$name" --out "$run" --minutes "$minutes" --total-minutes "$total" \
    --gpus "${GPUS:-1}" --scores "$@" 2>&1 | tee "$OUT/$name.log"
[ -s "$run/power" ] && tee -a "$OUT/$name.log" <"$run/power"

side=448
[ "$name" = portrait-lite ] && side=384
python3 "$HERE/export.py" "$run/checkpoint.pt" "$OUT/$name.safetensors" --longest-side $side --contrast "${CONTRAST:-1}" --commit "${COMMIT:-unknown}" || exit 1
cp "$OUT/$name.safetensors" "$WORK/"
for replica in "$run"/replica-*.pt; do  # of a run with --apart
    [ -e "$replica" ] && python3 "$HERE/export.py" "$replica" "$OUT/$(basename "$replica" .pt).safetensors" --longest-side $side --commit "${COMMIT:-unknown}"
done
ls -l "$OUT"
