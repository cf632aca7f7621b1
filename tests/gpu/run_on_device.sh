#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The GPU's tests and benchmarks on a machine that has a GPU and little else: no Qt, OpenCV or oneDNN.
#
#   run_on_device.sh pack BUILD [FOLDER]    here: take the programs of a CMake build (-DMATTE_BENCH=ON, and its
#                                           CMAKE_CUDA_ARCHITECTURES that of the GPU); they need a driver and no more
#   run_on_device.sh build [FOLDER]         there: compile them with nvcc and g++ alone
#   run_on_device.sh run [FOLDER] [STAGE…]  there: run the stages; logs go to $OUT or FOLDER
#
# FOLDER is out/gpu by default. Stages: test, sanitize, racecheck, layers, table; all but racecheck when none is named. What `build`
# reads: GTEST (googletest's sources, /usr/src/googletest/googletest), MATTE_JSON (where nlohmann/json.hpp is, when not in
# /usr/include), MATTE_SM (90 by default), JOBS; `racecheck` reads LANES (2 by default).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
mode=${1:-run}
shift $(($# > 0))
programs=(tests/gpu/matte_gpu_tests tests/gpu/matte_gpu_architecture_tests tests/bench/gpu_network tests/bench/gpu_conv
  tests/bench/gpu_pixels)

pack() {
  mkdir -p "$folder"
  local program
  for program in "${programs[@]}"; do cp "$build/$program" "$folder/" && strip "$folder/${program##*/}" || return 1; done
}

# object SOURCE: its name in the folder.
object() { echo "$folder/${1//\//_}.o"; }

compile() {
  mkdir -p "$folder"
  local nvcc=${NVCC:-nvcc} sm=${MATTE_SM:-90} gtest=${GTEST:-/usr/src/googletest/googletest} json=${MATTE_JSON:-/usr/include}
  local cuda source arch absent='_absent\.cpp$' other=80 jobs=() library=()
  cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
  local device=(-std=c++20 -O3 -lineinfo --expt-relaxed-constexpr -I.)
  local host=(-std=c++20 -O2 -fopenmp -I. -isystem "$cuda/include" -isystem "$gtest/include" -idirafter "$json" -DMATTE_HAVE_CUDA=1
    "-DMATTE_CUDA_ARCHITECTURES=\\\"$sm\\\"" "-DMATTE_KERNEL_VERSION=\\\"$(cat inference/cuda/conv/* inference/cuda/*/*.cuh | sha256sum | cut -c1-8)\\\"")
  [ "$sm" = 90 ] && host+=(-DMATTE_HAVE_SM90=1)
  [ "$sm" = 90 ] || absent='_sm90(_launch\.cpp|\.cu)$' other=90
  local sources=(inference/cuda/*/*.cu inference/cuda/*.cpp inference/cuda/*/*.cpp inference/engine/*.cpp inference/matting/*.cpp
    inference/core/{atomic_file,composite_params,frame_pool,image,parallel,synthetic_person}.cpp
    inference/model/{known_answer,layer_cost,safetensors,unet}.cpp tests/gpu/*_case.cpp tests/gpu/reference_conv.cu tests/support/{files/model_file,pictures/oracle}.cpp)
  for source in inference/cpu/*.cpp; do grep -q dnnl "$source" || sources+=("$source"); done
  for source in "${sources[@]}"; do
    [[ $source =~ $absent ]] && continue
    library+=("$(object "$source")")
    case $source in *_sm90.cu) arch=90a ;; *) arch=$sm ;; esac
    case $source in
      *.cu) jobs+=("$nvcc ${device[*]} -gencode=arch=compute_$arch,code=sm_$arch -c $source -o $(object "$source")") ;;
      *) jobs+=("g++ ${host[*]} -c $source -o $(object "$source")") ;;
    esac
  done
  local mains=(tests/gpu/*_test.cpp tests/support/engines/*_contract.cpp tests/gpu/gpu_main.cpp tests/bench/{gpu_network,gpu_conv,gpu_pixels}.cpp)
  for source in "${mains[@]}"; do jobs+=("g++ ${host[*]} -c $source -o $(object "$source")"); done
  jobs+=("g++ -std=c++20 -O2 -I$gtest -I$gtest/include -c $gtest/src/gtest-all.cc -o $folder/gtest.o")
  jobs+=("$nvcc ${device[*]} -gencode=arch=compute_$other,code=sm_$other -c inference/cuda/device/probe.cu -o $folder/probe_other.o")
  printf '%s\n' "${jobs[@]}" | xargs -P "${JOBS:-$(nproc)}" -d '\n' -I{} sh -c '{}' || return 1
  rm -f "$folder/library.a" && ar rcs "$folder/library.a" "${library[@]}" || return 1
  local link=("$nvcc" -Xcompiler -fopenmp) tests=()
  for source in tests/gpu/*_test.cpp tests/support/engines/*_contract.cpp; do [ "$source" = tests/gpu/architecture_test.cpp ] || tests+=("$(object "$source")"); done
  "${link[@]}" -o "$folder/matte_gpu_tests" "${tests[@]}" "$(object tests/gpu/gpu_main.cpp)" "$folder"/{gtest.o,library.a} &&
    "${link[@]}" -o "$folder/matte_gpu_architecture_tests" "$(object tests/gpu/architecture_test.cpp)" "$(object tests/gpu/gpu_main.cpp)" \
      "$folder"/{probe_other.o,gtest.o,library.a} || return 1
  for source in gpu_network gpu_conv gpu_pixels; do
    "${link[@]}" -o "$folder/$source" "$(object tests/bench/$source.cpp)" "$folder"/{gtest.o,library.a} || return 1
  done
}

# step SECONDS NAME COMMAND…: what it prints goes to a log, how it ended to the screen.
step() {
  local limit=$1 name=$2 start=$SECONDS code
  shift 2
  timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>&1
  code=$?
  echo "$name: exit $code, $((SECONDS - start)) s: $(grep -E '^\[  (PASSED|FAILED)|^[0-9=].* SUMMARY|^rates' "$out/$name.txt" | head -n 2 | tr '\n' ' ')"
  grep -hE '^\[  FAILED  \] [A-Za-z/]+\.|^ERROR' "$out/$name.txt" | sort -u | head -n 20
}

# listed FILTER COUNT: the tests of FILTER, COUNT of them a line, as a filter; of parameterised tests, those of one parameter beside each other.
listed() {
  "$program" --gtest_list_tests --gtest_filter="$1" | awk '/^[^ ]/ {suite = $1} /^ / {print suite $1}' | sort -t/ -k3 | xargs -n "$2" | tr ' ' :
}

# What looks at the clock or at how much memory is free runs alone, the rest side by side, each with a few threads.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
runStage() {
  local program=$folder/matte_gpu_tests kernel
  local few='Few/*-Few/Photo*' alone='PhotoEngine*:FullDevice*:Tuner*:*Hundred*:*TimedInEach*'
  case $1 in
    test)
      for kernel in sm90 mma fp32; do
        step 180 "conv_$kernel" "$program" --gtest_brief=1 --gtest_filter="*Convolution*/*_${kernel}_*:*Convolution*/${kernel}_*" &
      done
      step 240 others "$program" --gtest_brief=1 --gtest_filter="-*Convolution*:$alone" &
      step 60 architecture "$folder/matte_gpu_architecture_tests" &
      wait
      step 240 alone "$program" --gtest_brief=1 --gtest_filter="$alone"
      ;;
    sanitize)
      step 240 memcheck compute-sanitizer --tool memcheck --error-exitcode 9 "$program" --gtest_brief=1 --gtest_filter="$few"
      ;;
    racecheck)
      # Few tests a process and LANES processes at a time, for the tool is slow and takes up to 60 GB for one test of live frames. The two that take
      # more than 120 are left out; the kernels that they launch are those of Network.TimedLayers* and LiveMatte.*.
      local -x MATTE_BRIEF=1 OMP_NUM_THREADS=2
      rm -f "$out"/race_*.txt
      {
        listed 'LiveEngineTest.*-*Hundred*:*TimedInEach*:*LayersAreTimed*:*WhatAFrameKeeps*' 1
        listed '*LiveMatte*:LiveParams*:NonFinite*:Few/*-*Convolution*:*Photo*' 4
        listed 'Kernels/Network*' 5
        listed 'Few/Convolution*' 6
      } | xargs -P "${LANES:-2}" -I{} bash -c "$(declare -f step); out=$out; step 200 \"race_\$\$_\$(tr -c 'A-Za-z0-9\n' _ <<<'{}' | cut -c 1-60)\" \
        compute-sanitizer --tool racecheck --error-exitcode 9 $program --gtest_filter='{}'"
      grep -h 'RACECHECK SUMMARY' "$out"/race_*.txt | sort | uniq -c
      echo "$(cat "$out"/race_*.txt | grep -c '^\[       OK') tests passed, $(cat "$out"/race_*.txt | grep -c '^\[  FAILED  \] .*ms)') failed," \
        "$(grep -L 'RACECHECK SUMMARY' "$out"/race_*.txt | wc -l) processes did not end, $(cat "$out"/race_*.txt | grep -c "didn't terminate") were ended"
      ;;
    layers)
      for kernel in sm90 mma fp32; do step 60 "layers_$kernel" "$folder/gpu_network" "$kernel" --layers; done
      step 60 pixels "$folder/gpu_pixels"
      ;;
    table) python3 tests/bench/side_by_side.py "$folder" 2>"$out/table.log" | tee "$out/table.md" ;;
  esac
}

case $mode in
  pack)
    build=${1:?the folder of a build} folder=${2:-out/gpu}
    pack
    ;;
  build)
    folder=${1:-out/gpu}
    compile
    ;;
  run)
    folder=${1:-out/gpu}
    shift $(($# > 0))
    out=${OUT:-$folder}
    mkdir -p "$out"
    [ $# -gt 0 ] || set -- test sanitize layers table
    for stage in "$@"; do runStage "$stage"; done
    ;;
  *)
    sed -n '3,15s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
