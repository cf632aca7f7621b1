#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds check_engine without CMake, Qt, OpenCV or oneDNN, runs it, times the stages and looks for memory errors.
#
#   check_engine.sh build [FOLDER]   compile (needs no GPU)
#   check_engine.sh run [FOLDER]     build, check, time, sanitize; the log goes to $OUT or FOLDER
set -uo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-run}
folder=${2:-out/gpu}
nvcc=${NVCC:-nvcc}
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
arch=${MATTE_SM:-90}
json=${MATTE_JSON:-$folder/json}  # besides /usr/include, where nlohmann/json.hpp may be
device=(-std=c++20 -O3 -lineinfo --expt-relaxed-constexpr -I.)
host=(-std=c++20 -O2 -fopenmp -I. -isystem "$cuda/include" -idirafter "$json" -idirafter /usr/include
  "-DMATTE_CUDA_ARCHITECTURES=\\\"$arch\\\"" -DMATTE_HAVE_CUDA=1)
kernels=(conv_fp32 conv_mma head pixels_composite pixels_refine pixels_resample probe)
hosts=(inference/cuda/{conv,conv_config,conv_pack,cuda_cutout,cuda_engine,cuda_network,devices,pixels,plate,tensor_map,transfer}
  inference/cpu/{composite,refine,resample} inference/{fallback_engine,image,look} inference/model/{safetensors,unet}
  tests/support/model_file tests/gpu/{pixel_case,network_case,engine_case,engine_checks,check_engine})
if [ "$arch" = 90 ]; then
  kernels+=(conv_sm90)
  host+=(-DMATTE_HAVE_SM90=1)
else
  hosts+=(inference/cuda/conv_sm90_absent)
fi

compile() {
  mkdir -p "$folder"
  local source name target jobs=() objects=()
  for name in "${kernels[@]}"; do
    target=$arch
    [ "$name" = conv_sm90 ] && target=90a
    jobs+=("$nvcc ${device[*]} -gencode=arch=compute_$target,code=sm_$target -c inference/cuda/$name.cu -o $folder/$name.en.o")
    objects+=("$folder/$name.en.o")
  done
  for source in "${hosts[@]}"; do
    name=$(basename "$source")
    jobs+=("g++ ${host[*]} -c $source.cpp -o $folder/$name.host.en.o")
    objects+=("$folder/$name.host.en.o")
  done
  printf '%s\n' "${jobs[@]}" | xargs -P "${JOBS:-$(nproc)}" -d '\n' -I{} sh -c '{}' || return 1
  "$nvcc" -Xcompiler -fopenmp -o "$folder/check_engine" "${objects[@]}"
}

log=${OUT:-$folder}/engine.txt
# step SECONDS NAME COMMAND…: what it prints goes to the log, how it ended to the screen.
step() {
  local limit=$1 name=$2
  shift 2
  timeout -k 5 "$limit" "$@" >"$folder/$name.log" 2>&1
  local code=$?
  { echo "== $name, exit $code"; cat "$folder/$name.log"; } >>"$log"
  echo "== $name: exit $code; $(tail -n 1 "$folder/$name.log")"
  grep -E '^(FAIL|ERROR)' "$folder/$name.log"
  return $code
}

compile || exit 1
[ "$mode" = build ] && exit 0
: >"$log"
step 100 engine "$folder/check_engine"
step 20 engine_lost "$folder/check_engine" --lost
step 40 engine_time "$folder/check_engine" --time
cat "$folder/engine_time.log"
step 90 engine_memcheck compute-sanitizer --tool memcheck --error-exitcode 9 "$folder/check_engine" --quick
