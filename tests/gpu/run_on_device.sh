#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds, checks and measures the convolution kernels without CMake, Qt, OpenCV or oneDNN: nvcc and g++ alone.
#
#   run_on_device.sh build [FOLDER]         compile everything (needs no GPU)
#   run_on_device.sh run [FOLDER] [STAGE…]  build what is missing, then run the stages; logs go to $OUT or FOLDER
#
# FOLDER is out/gpu by default. Stages: check, net, bench, sanitize, all, torch, compile, profile; by default the first
# four.
# Each step is a process of its own with a time limit, cheapest first, so that one that hangs takes no other with it.
set -uo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-run}
folder=${2:-out/gpu}
shift $(($# < 2 ? $# : 2))
stages=${*:-check net bench sanitize}
nvcc=${NVCC:-nvcc}
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
json=${MATTE_JSON:-$folder/json}  # besides /usr/include, where nlohmann/json.hpp may be
device=(-std=c++20 -O3 -lineinfo --expt-relaxed-constexpr -I.)
host=(-std=c++20 -O2 -I. -isystem "$cuda/include" -idirafter "$json" -idirafter /usr/include)
kernels=(conv_mma conv_sm90 conv_fp32 head)
hosts=(inference/cuda/conv inference/cuda/conv_pack inference/cuda/conv_config inference/cuda/tensor_map
  inference/cuda/cuda_network inference/model/unet inference/model/safetensors tests/support/oracle
  tests/support/model_file tests/gpu/conv_case tests/gpu/network_case)
programs=(tests/gpu/check_conv tests/gpu/check_network tests/bench/gpu_conv tests/bench/gpu_network)

target() {
  case $1 in *sm90) echo -gencode=arch=compute_90a,code=sm_90a ;; *) echo -gencode=arch=compute_90,code=sm_90 ;; esac
}

compile() {
  mkdir -p "$folder"
  local source name jobs=()
  for name in "${kernels[@]}"; do
    jobs+=("$nvcc ${device[*]} $(target "$name") -c inference/cuda/$name.cu -o $folder/$name.o")
    jobs+=("$nvcc ${device[*]} $(target "$name") -DMATTE_TRAP_HANGS -c inference/cuda/$name.cu -o $folder/$name.trap.o")
  done
  jobs+=("$nvcc ${device[*]} $(target reference) -c tests/gpu/reference_conv.cu -o $folder/reference_conv.o")
  for source in "${hosts[@]}" "${programs[@]}"; do
    jobs+=("g++ ${host[*]} -c $source.cpp -o $folder/$(basename "$source").o")
  done
  printf '%s\n' "${jobs[@]}" | xargs -P "${JOBS:-$(nproc)}" -d '\n' -I{} sh -c '{}' || return 1
  local shared=("${hosts[@]##*/}" reference_conv)
  for source in "${programs[@]}"; do
    name=$(basename "$source")
    local suffix=.o
    case $name in check_*) suffix=.trap.o ;; esac
    (cd "$folder" && "$nvcc" -o "$name" "$name.o" "${shared[@]/%/.o}" "${kernels[@]/%/$suffix}") || return 1
  done
}

out=${OUT:-$folder}
logs=$folder/logs
deadline=${DEADLINE:-560}  # seconds for everything
summary=()
# step SECONDS NAME COMMAND…: runs it, keeps its log, notes how it ended.
step() {
  local limit=$1 name=$2 start=$SECONDS code left=$((deadline - SECONDS))
  shift 2
  if ((left < 10)); then
    summary+=("$name skipped: no time left")
    return 1
  fi
  ((limit < left)) || limit=$left
  timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1
  code=$?
  summary+=("$(printf '%-18s exit %3d  %3d s  %s' "$name" $code $((SECONDS - start)) "$(tail -n 1 "$logs/$name.log" | cut -c1-120)")")
  { echo "== $name, exit $code"; cat "$logs/$name.log"; } >>"$out/results.txt"
  return $code
}

run_stage() {
  case $1 in
    check)
      for kernel in sm90 mma fp32; do
        step 20 "quick_$kernel" "$folder/check_conv" "$kernel" --quick || continue
        step 60 "conv_$kernel" "$folder/check_conv" "$kernel"
        step 20 "network_$kernel" "$folder/check_network" "$kernel"
      done
      ;;
    net)
      step 25 net_sm90 "$folder/gpu_network" sm90 --layers
      step 25 net_mma "$folder/gpu_network" mma --layers
      step 30 net_fp32 "$folder/gpu_network" fp32
      ;;
    bench)
      step 30 bench_sm90 "$folder/gpu_conv" sm90 --first 10 --csv "$out/conv_sm90.csv"
      step 30 bench_mma "$folder/gpu_conv" mma --first 28 --csv "$out/conv_mma.csv"
      ;;
    sanitize)
      for kernel in sm90 mma fp32; do
        step 30 "memcheck_$kernel" compute-sanitizer --tool memcheck --error-exitcode 9 "$folder/check_conv" "$kernel" --quick
        step 30 "racecheck_$kernel" compute-sanitizer --tool racecheck --error-exitcode 9 "$folder/check_conv" "$kernel" --quick
      done
      ;;
    all)
      for kernel in mma sm90 fp32; do step 90 "bench_$kernel" "$folder/gpu_conv" "$kernel" --csv "$out/conv_$kernel.csv"; done
      step 90 net_tuned "$folder/gpu_network" sm90 --tune
      ;;
    torch)
      step 90 torch_layers python3 tests/bench/gpu_torch.py layers
      step 90 torch_eager python3 tests/bench/gpu_torch.py eager
      ;;
    compile) step 240 torch_compile python3 tests/bench/gpu_torch.py compile ;;
    profile)
      step 200 profile ncu --clock-control none --set full -k "regex:conv" -c 23 "$folder/gpu_network" sm90
      ;;
  esac
}

case $mode in
  build) compile ;;
  run)
    # Programs that were built elsewhere may lack a library here.
    if ! "$folder/gpu_network" --version >/dev/null 2>&1; then compile || exit 1; fi
    rm -rf "$logs"
    mkdir -p "$logs" "$out"
    : >"$out/results.txt"
    for stage in $stages; do run_stage "$stage"; done
    for log in {conv,network,memcheck,racecheck}_{mma,sm90,fp32}; do
      [ -f "$logs/$log.log" ] && echo "== $log" && tail -n 4 "$logs/$log.log" | cut -c1-140
    done
    for log in net_{mma,sm90,fp32,tuned} bench_{mma,sm90,fp32} torch_{layers,eager,compile}; do
      [ -f "$logs/$log.log" ] && echo "== $log" && grep -E '^( |base|layer|conv3x3|up2x2|cudnn|torch|ERROR)' "$logs/$log.log" | cut -c1-118
    done
    echo "== steps"
    printf '%s\n' "${summary[@]}"
    ;;
esac
