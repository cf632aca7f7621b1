#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds check_pixels without CMake, Qt, OpenCV or oneDNN, runs it, times every stage and looks for memory errors and races.
#
#   check_pixels.sh build [FOLDER]   compile (needs no GPU)
#   check_pixels.sh run [FOLDER]     build, check, time, sanitize; the log goes to $OUT or FOLDER
set -uo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-run}
folder=${2:-out/gpu}
nvcc=${NVCC:-nvcc}
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
arch=${MATTE_SM:-90}
device=(-std=c++20 -O3 -lineinfo --expt-relaxed-constexpr -I. "-gencode=arch=compute_$arch,code=sm_$arch")
host=(-std=c++20 -O2 -fopenmp -I. -isystem "$cuda/include")
kernels=(inference/cuda/pixels_resample inference/cuda/pixels_refine inference/cuda/pixels_composite)
hosts=(inference/cuda/pixels inference/cpu/resample inference/cpu/refine inference/cpu/composite inference/image
  inference/look tests/gpu/pixel_case tests/gpu/pixel_checks tests/gpu/check_pixels)

compile() {
  mkdir -p "$folder"
  local source jobs=() objects=()
  for source in "${kernels[@]}"; do jobs+=("$nvcc ${device[*]} -c $source.cu -o $folder/$(basename "$source").px.o"); done
  for source in "${hosts[@]}"; do jobs+=("g++ ${host[*]} -c $source.cpp -o $folder/$(basename "$source").px.o"); done
  printf '%s\n' "${jobs[@]}" | xargs -P "${JOBS:-$(nproc)}" -d '\n' -I{} sh -c '{}' || return 1
  for source in "${kernels[@]}" "${hosts[@]}"; do objects+=("$folder/$(basename "$source").px.o"); done
  "$nvcc" -Xcompiler -fopenmp -o "$folder/check_pixels" "${objects[@]}"
}

compile || exit 1
[ "$mode" = build ] && exit 0
log=${OUT:-$folder}/pixels.txt
: >"$log"
# step SECONDS NAME COMMAND…: what it prints goes to the log, how it ended to the screen.
step() {
  local limit=$1 name=$2
  shift 2
  timeout -k 5 "$limit" "$@" >"$folder/$name.log" 2>&1
  local code=$?
  { echo "== $name, exit $code"; cat "$folder/$name.log"; } >>"$log"
  echo "== $name: exit $code; $(tail -n 1 "$folder/$name.log")"
  return $code
}
step 60 check "$folder/check_pixels"
grep -E '^(FAIL|ERROR)' "$folder/check.log"
step 40 time "$folder/check_pixels" --time
cat "$folder/time.log"
step 60 memcheck compute-sanitizer --tool memcheck --error-exitcode 9 "$folder/check_pixels" --quick
step 60 racecheck compute-sanitizer --tool racecheck --error-exitcode 9 "$folder/check_pixels" --quick
step 40 initcheck compute-sanitizer --tool initcheck --error-exitcode 9 "$folder/check_pixels" --quick
