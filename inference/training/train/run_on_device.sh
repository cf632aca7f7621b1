#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One stage of training on a GPU machine, from the repository's root; each ends well inside ten minutes. State is kept
# in $WORK, results go to $OUT.
#
#   run_on_device.sh stash                                         keep the packs that came along
#   run_on_device.sh train NAME MINUTES TOTAL [train.py options]   train NAME, or go on; score and export it
#   run_on_device.sh start NAME MINUTES TOTAL [train.py options]   the same in the background; return at once
#   run_on_device.sh follow NAME SECONDS                           wait for that, at most SECONDS; export what it saved
#
# Packs in .train are kept as well. NAME is portrait or portrait-lite. When a machine was lost, put the model file that
# came back where train.py can read it and add: --init FILE --elapsed MINUTES (or steps, with --steps). GPUS=4 trains on
# four GPUs. COMMIT is noted in the model file; CONTRAST is export.py's: 1 for a model that others go on from. `follow`
# exits with 0 when the run has ended, with 3 while it goes on.
set -u
WORK=${WORK:-/tmp/train}
OUT=${OUT:-$WORK/out}
HERE=$(cd "$(dirname "$0")" && pwd)
export PYTHONUNBUFFERED=1
# Two runs beside each other, each with a thread for every core, took ten times as long to load the photos.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
stage=${1:?stage: stash, train, start or follow}
name=${2:-} run="$WORK/${2:-}"
mkdir -p "$WORK/data" "$OUT" "$run"
export WORK

stash() {
    local pack
    for pack in .train/*.zip .train/*/*.zip; do
        [ -e "$pack" ] && cp "$pack" "$WORK/data/"
    done
    ls -l "$WORK/data"
    nvidia-smi --query-gpu=name,power.draw --format=csv,noheader 2>/dev/null
}

# exportModel CHECKPOINT FILE: a model file in $OUT of what was saved.
exportModel() {
    local side=448
    [ "$name" = portrait-lite ] && side=384
    python3 "$HERE/export.py" "$1" "$OUT/$2.safetensors" --longest-side $side --contrast "${CONTRAST:-1}" \
        --commit "${COMMIT:-unknown}"
}

# Exports what the run has saved so far: each independent replica, and at the end their mean. Fails without any.
exportAll() {
    local replica
    for replica in "$run"/replica-*.pt; do
        [ -e "$replica" ] && exportModel "$replica" "$(basename "$replica" .pt)"
    done
    [ -e "$run/checkpoint.pt" ] && exportModel "$run/checkpoint.pt" "$name" && cp "$OUT/$name.safetensors" "$WORK/"
    cp "$run/log" "$OUT/$name.log"
    ls -l "$OUT"/*.safetensors
}

train() {
    local minutes=$1 total=$2
    shift 2
    # Power in the middle of the run, for the model card.
    (sleep "$(python3 -c "print(int($minutes * 30))")" &&
        nvidia-smi --query-gpu=power.draw,utilization.gpu --format=csv,noheader 2>/dev/null >"$run/power") &
    # The time limit only ends a run that hangs: what it last saved is exported all the same.
    timeout -k 5 "$(python3 -c "print(int($minutes * 60 + 75))")" python3 "$HERE/train.py" "$WORK/data" --model "$name" \
        --out "$run" --minutes "$minutes" --total-minutes "$total" --gpus "${GPUS:-1}" --evaluate "$@" 2>&1 |
        tee -a "$run/log"
    [ -s "$run/power" ] && tee -a "$run/log" <"$run/power"
}

follow() {
    local end=$((SECONDS + $1))
    [ -e "$run/log" ] || { echo "no training $name here: was the machine lost?"; return 1; }
    until [ -e "$run/ended" ] || [ $SECONDS -ge $end ]; do sleep 1; done
    tail -n 40 "$run/log"
    exportAll
    local exported=$?
    [ -e "$run/ended" ] || return 3
    return $exported
}

case $stage in
    stash) stash ;;
    train)
        stash
        train "${@:3}"
        exportAll
        ;;
    start)
        stash
        export OUT="$run/out"
        rm -f "$run/ended"
        # In a session of its own, which outlives this command.
        setsid bash -c 'bash "$0" train "$@"; touch "$WORK/$1/ended"' "$0" "$name" "${@:3}" </dev/null >/dev/null 2>&1 &
        ;;
    follow) follow "${3:?seconds}" ;;
    *) sed -n '6,9s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
