#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layering.sh [ROOT]: fails when an include breaks gui -> interop -> inference, or a library is known outside the part
# that owns it. Tries itself first: each rule must fail on a planted violation.
set -euo pipefail

# rule ROOT PATHS EXCEPT HEADERS WHY: no file below PATHS, but for those that match EXCEPT, includes what matches HEADERS.
rule() {
    local root=$1 paths=$2 except=$3 headers=$4 why=$5 found
    # shellcheck disable=SC2086  # PATHS are several words
    found=$(cd "$root" && grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
        "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($headers)" $paths 2>/dev/null | grep -vE "^($except)" || true)
    [ -z "$found" ] && return
    printf '%s:\n%s\n' "$why" "$found"
    return 1
}

qt='Q[A-Za-z]|qt' gl='GL/|GLES|EGL/|glew|epoxy|glad'
check() {
    local root=$1 bad=0
    rule "$root" inference - "$qt|$gl|interop/|gui/" 'inference knows neither Qt nor GL, nor interop, nor gui' || bad=1
    rule "$root" interop - "$qt|gui/" 'interop knows neither Qt nor gui' || bad=1
    rule "$root" gui - 'cuda|cublas|cudnn|curand|nvrtc|driver_types|GL/glew|glew' 'gui knows neither CUDA nor GLEW' || bad=1
    rule "$root" 'inference interop gui' 'inference/media/' 'opencv2?/|opencv2?\.' 'OpenCV is known to inference/media alone' || bad=1
    rule "$root" 'inference interop gui' 'inference/cpu/' 'dnnl|oneapi/' 'oneDNN is known to inference/cpu alone' || bad=1
    rule "$root" 'inference interop gui' 'inference/media/image/' 'jpeglib|vips/|lcms2' 'picture formats are known to inference/media/image alone' || bad=1
    rule "$root" 'inference interop gui' '[^:]*\.cpp:' 'nlohmann/' 'JSON stays out of headers' || bad=1
    return $bad
}

selfTest() {
    local root=$1 file include
    mkdir -p "$root"/{inference/{core,cpu,media},interop,gui}
    printf '#include <dnnl.hpp>\n' >"$root/inference/cpu/a.cpp"
    printf '#include <opencv2/core.hpp>\n' >"$root/inference/media/a.cpp"
    printf '#include <nlohmann/json.hpp>\n#include <queue>\n' >"$root/inference/core/a.cpp"
    printf '#include <GL/glew.h>\n#include <cuda_gl_interop.h>\n#include "inference/core/image.h"\n' >"$root/interop/a.cpp"
    printf '#include <QWidget>\n#include "interop/presenter.h"\n' >"$root/gui/a.cpp"
    check "$root" || { echo 'layering: it refuses what is allowed' >&2 && exit 1; }
    while read -r file include; do
        printf '#include %s\n' "$include" >"$root/$file"
        if check "$root" >/dev/null; then echo "layering: it misses $include in $file" >&2 && exit 1; fi
        rm "$root/$file"
    done <<'PLANTED'
inference/planted.h <QString>
inference/planted.cpp <QtCore/QString>
inference/planted.cpp <GL/glew.h>
inference/cpu/planted.cpp "interop/presenter.h"
inference/media/planted.h "gui/window/viewport.h"
interop/planted.cpp <QOpenGLContext>
interop/planted.cpp "gui/window/viewport.h"
gui/planted.cpp <cuda_runtime.h>
gui/planted.h <GL/glew.h>
inference/cpu/planted.cpp <opencv2/imgproc.hpp>
gui/planted.cpp <opencv2/core.hpp>
inference/planted.h <dnnl.hpp>
interop/planted.cpp <oneapi/dnnl/dnnl.hpp>
gui/planted.cpp <vips/vips8>
inference/planted.cpp <jpeglib.h>
inference/media/planted.h <nlohmann/json.hpp>
PLANTED
}

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
selfTest "$planted"
check "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" && echo 'layering: gui -> interop -> inference holds'
