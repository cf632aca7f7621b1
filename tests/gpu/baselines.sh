#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds, checks and measures the baselines without CMake, Qt, OpenCV or oneDNN: nvcc and g++ alone.
#
#   baselines.sh build [FOLDER]         compile check_baselines (needs no GPU; MATTE_ARCH, 90 by default)
#   baselines.sh run [FOLDER] [STAGE…]  run the stages; the tables go to $OUT or FOLDER as JSON
#
# FOLDER is out/baselines by default. Stages: definition (the CPU's slow loops, in the background), test, sanitize, dump
# (PyTorch's activations of the course's network), single, profile, wait (for the background), conv, layers, network.
set -uo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-run}
folder=${2:-out/baselines}
shift $(($# < 2 ? $# : 2))
stages=${*:-test single conv layers dump network}
arch=${MATTE_ARCH:-90}
nvcc=${NVCC:-nvcc}
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
device=(-std=c++20 -O3 -lineinfo --expt-relaxed-constexpr --extended-lambda -I.)
host=(-std=c++20 -O3 -fopenmp -I. -DMATTE_HAVE_CUDA=1 -DMATTE_HAVE_SM90=1 "-DMATTE_TEST_DATA=\\\"tests/data\\\"" "-DMATTE_SOURCE_DATA=\\\"resources\\\"" -isystem "$cuda/include")
kernels=(inference/baselines/*/*.cu inference/cuda/conv/{conv_mma,conv_sm90,conv_fp32,conv_direct,head}.cu)
hosts=(inference/baselines/*.cpp inference/baselines/{cpu,gpu,lab,ops}/*.cpp inference/core/{image,machine_rates,parallel}.cpp inference/tools/bench/lab_command.cpp
  inference/cpu/processor_rates.cpp inference/cuda/cuda_network.cpp inference/cuda/conv/{conv,conv_pack,conv_config,conv_sm90_config,conv_sm90_launch}.cpp
  inference/cuda/device/devices.cpp inference/model/{unet,safetensors,layer_cost,known_answer,default_model}.cpp
  tests/support/{pictures/oracle,engines/baseline_case,files/model_file}.cpp tests/unit/baselines/{baselines,baseline_bottleneck,baseline_operations,baseline_single}_test.cpp tests/gpu/check_baselines.cpp)
absent='/(cpu_onednn|gpu_absent)\.cpp$' # what this build goes without

build() {
  mkdir -p "$folder"
  local source jobs=() objects=()
  for source in "${kernels[@]}" "${hosts[@]}"; do
    [[ $source =~ $absent ]] && continue
    local object=$folder/${source//\//_}.o
    objects+=("$object")
    [ "$object" -nt "$source" ] && [ -z "${ALL:-}" ] && continue
    case $source in
      *sm90.cu) jobs+=("$nvcc ${device[*]} -gencode=arch=compute_90a,code=sm_90a -c $source -o $object") ;;
      *.cu) jobs+=("$nvcc ${device[*]} -gencode=arch=compute_$arch,code=sm_$arch -c $source -o $object") ;;
      *) jobs+=("${CXX:-g++} ${host[*]} -c $source -o $object") ;;
    esac
  done
  printf '%s\n' "${jobs[@]}" | xargs -r -P "${JOBS:-$(nproc)}" -d '\n' -I{} sh -c '{}' || return 1
  # Static, so that the program starts where neither GoogleTest nor this compiler's libraries are.
  "$nvcc" -o "$folder/check_baselines" "${objects[@]}" -Xcompiler -fopenmp -Xlinker -Bstatic -lgtest -lgomp -lstdc++ -Xlinker -Bdynamic -ldl -lpthread
}

out=${OUT:-$folder}
program=$folder/check_baselines
# A cuDNN that came with PyTorch is as good as any.
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:$(python3 -c 'import glob, nvidia; print(":".join(glob.glob(nvidia.__path__[0] + "/*/lib")))' 2>/dev/null)
export LD_LIBRARY_PATH
# table NAME LAB-OPTIONS…
table() {
  local name=$1 start=$SECONDS code
  shift
  timeout -k 5 "${LIMIT:-150}" "$program" lab "$@" --json >"$out/$name.json" 2>"$out/$name.log"
  code=$?
  echo "$name: exit $code, $((SECONDS - start)) s $(tail -n 1 "$out/$name.log" | cut -c 1-200)"
}
# Without the CPU's slow definition, which takes minutes here.
quick=cpu-parallel,cpu-im2col,cpu-onednn,gpu-direct,gpu-tiled-plain,gpu-tiled,gpu-fused,gpu-resident,gpu-im2col,gpu-winograd,gpu-implicit,gpu-mma,gpu-wgmma,gpu-cudnn

run_stage() {
  local layer
  case $1 in
    definition)
      for layer in 3x64 64x64 64x128 128x128 128x256 256x256 256x512 512x512 512x1024 1024x1024; do
        OMP_NUM_THREADS=1 table "definition_$layer" conv --only "$layer" --implementations cpu-sequential &
      done
      OMP_NUM_THREADS=1 table definition_layers layers --only 512 --implementations cpu-sequential &
      export OMP_NUM_THREADS=4  # what runs beside them must not fight them for their cores
      ;;
    wait)
      wait
      unset OMP_NUM_THREADS
      ;;
    test)
      timeout -k 5 120 "$program" >"$out/test.log" 2>&1
      echo "test: exit $?"
      grep -E 'FAILED|PASSED|right|Which is|Failure|actual' "$out/test.log" | head -n 30
      ;;
    sanitize)
      timeout -k 5 100 compute-sanitizer --tool memcheck "$program" --gtest_filter='*RunsABlock*:*Operations*Gpu*' >"$out/sanitize.log" 2>&1
      echo "sanitize: exit $?, $(tail -n 1 "$out/sanitize.log")"
      ;;
    dump) mkdir -p "$folder/dump" && OMP_NUM_THREADS=4 python3 tests/reference/dump_baselines.py "$folder/dump" --course && echo "dump: done at $SECONDS s" ;;
    conv) table conv conv --implementations "$quick" ;;
    layers) table layers layers --implementations cpu-parallel,gpu-direct ;;
    network)
      table network network --implementations "$quick" --dump "$folder/dump"
      table network_small network --dump tests/data
      ;;
    single) table single xnor stencil ;;
    profile)
      timeout -k 5 100 ncu --set full -k "regex:${KERNELS:-directKernel|tiledPlainKernel|tiledKernel}" -c "${COUNT:-9}" "$program" lab conv --only "${ONLY:-512x1024}" \
        --implementations "${IMPLEMENTATIONS:-gpu-direct,gpu-tiled-plain,gpu-tiled}" >"$out/profile.txt" 2>&1
      echo "profile: exit $?"
      ;;
  esac
}

case $mode in
  build) build ;;
  run)
    mkdir -p "$out"
    [ -x "$program" ] || build || exit 1
    for stage in $stages; do run_stage "$stage"; done
    ;;
esac
