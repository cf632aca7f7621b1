#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -Eeuo pipefail

usage() {
    cat <<'TEXT'
packaging/quickstart.sh [PHOTO]

Makes Matte ready on Debian 12 or Ubuntu 24.04 and shows it on PHOTO (a sample portrait when none is given):
  1. installs what is missing from the distribution, after naming it (with sudo when you are not root);
  2. builds the program in build/release (with the CUDA engine when nvcc is there);
  3. opens the window. Without a display, matte-cli puts the person before a new background instead, and says
     which engine ran, how many milliseconds each stage took and where the picture is.

Running it again is quick: only what changed is done. The whole output is kept in build/quickstart.log.
TEXT
}

case ${1-} in
    -h | --help) usage && exit ;;
    -*) echo "quickstart.sh: there is no option '$1'; see --help." >&2 && exit 2 ;;
esac
[ $# -le 1 ] || { echo "quickstart.sh: it takes one photo; see --help." >&2 && exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
photo=$(realpath -m -- "${1:-$root/resources/samples/astronaut.png}")
[ -f "$photo" ] || { echo "quickstart.sh: there is no photo '$photo'; give the path of one." >&2 && exit 2; }
cd "$root"
. packaging/steps.sh
. packaging/dependencies.sh
startLog "$root/build/quickstart.log"

step "Looking for what Matte needs from the distribution"
packages=("${buildPackages[@]}")
if [ -n "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then packages+=("${windowPackages[@]}"); fi
installPackages "${packages[@]}"

step "Building"
options=(-DMATTE_TESTS=OFF)
if command -v nvidia-smi >/dev/null && computeCapability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>>"$log" | head -n 1); then
    architecture=${computeCapability/./}
    # Hopper's matrix instructions are in the `a` variant only.
    case $architecture in 90) architecture=90a ;; esac
    if [ "${computeCapability%.*}" -lt 8 ]; then
        echo "The GPU has compute capability $computeCapability, and Matte's kernels need 8.0: building for the CPU alone."
        options+=(-DMATTE_CUDA=OFF)
    elif command -v nvcc >/dev/null && ! nvcc --list-gpu-code | grep -qx "sm_${computeCapability/./}"; then
        echo "The CUDA toolkit is older than the GPU (compute capability $computeCapability): building for the CPU alone. A newer toolkit brings the GPU."
        options+=(-DMATTE_CUDA=OFF)
    else
        options+=(-DCMAKE_CUDA_ARCHITECTURES="$architecture-real")
    fi
fi
configureAndBuild build/release "${options[@]}"

if [ -n "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then
    step "Opening the window on $photo"
    exec build/release/gui/matte "$photo"
fi
step "No display: cutting out $photo with matte-cli"
name=$(basename "$photo")
picture=$root/out/${name%.*}-office.png
mkdir -p "$root/out"
build/release/inference/matte-cli image "$photo" -o "$picture" --background "image:$root/resources/backgrounds/office.jpg" |
    tee -a "$log"
endStep
echo "Done. The picture: $picture"
echo "Try others: build/release/inference/matte-cli image PHOTO -o PICTURE.png --background transparent (see --help)."
