#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes very many pictures of a window whose user is in a known room, while everything changes and the program has 3 to
# 100 % of a processor, and says in how many of them the room was. Not part of tests/run.sh, which takes a few hundred:
# 5,000 pictures take about ten minutes.
#
#   tests/gui/leak.sh BUILD [PICTURES [SEED [FOLDER]]]
#   tests/gui/leak.sh build/release                     # 5,000 pictures
#   tests/gui/leak.sh build/release 5000 7 worst        # other changes; the worst picture of each round into worst/
#
# Ends with 0 when no picture had the room, with another code when one did, and with 77 when it can't run.
set -euo pipefail

build=${1:?"name the build folder: tests/gui/leak.sh build/release"}
program=$build/tests/gui/gui_tests
[[ -x $program ]] || { echo "There is no $program: build the target gui_tests first." >&2; exit 77; }
command -v xvfb-run >/dev/null || { echo "xvfb-run is needed: install xvfb." >&2; exit 77; }
export MATTE_LEAK_PICTURES=${2:-5000} MATTE_LEAK_SEED=${3:-1}
if [[ -n ${4:-} ]]; then
  mkdir -p "$4"
  MATTE_LEAK_FOLDER=$(realpath "$4")
  export MATTE_LEAK_FOLDER
fi
export QT_QPA_PLATFORM=xcb LIBGL_ALWAYS_SOFTWARE=1 QT_SCALE_FACTOR=1
export MATTE_DATA=${MATTE_DATA:-$(realpath "$(dirname "$0")/../../resources")}
exec nice xvfb-run -a -s "-screen 0 960x600x24 +extension GLX" "$program" Leak -maxwarnings 0
