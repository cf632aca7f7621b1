#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An include against the direction of the layers does not compile, and one along it does.

python3 tests/layers_test.py BUILD

Takes the command by which a source of a layer is compiled in BUILD, and gives it another source.
"""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]

# A source of each layer; headers that it may include, and headers that it may not.
LAYERS = {
    "inference/core/image.cpp": (
        ["core/error.h"],
        ["model/unet.h", "media/frame_source.h"],
    ),
    "inference/model/unet.cpp": (
        ["core/image.h"],
        ["matting/resample.h", "media/frame_source.h"],
    ),
    "inference/matting/resample.cpp": (
        ["model/unet.h"],
        ["engine/engine.h", "media/frame_source.h"],
    ),
    "inference/engine/self_test.cpp": (
        ["matting/matte_guard.h"],
        ["cpu/cpu_engine.h", "cuda/slot.h"],
    ),
    "inference/cpu/cpu_engine.cpp": (
        ["engine/engine.h"],
        ["cuda/device/devices.h", "media/loss.h"],
    ),
    "inference/cuda/device/devices.cpp": (
        ["engine/engine.h"],
        ["cpu/host_network.h", "media/loss.h"],
    ),
    "inference/media/loss.cpp": (
        ["core/frame.h"],
        ["model/unet.h", "pipeline/trace.h"],
    ),
    "inference/pipeline/trace.cpp": (
        ["media/loss.h"],
        ["cpu/host_network.h", "tools/cli/options.h"],
    ),
    "inference/backends/create_engine.cpp": (
        ["cpu/cpu_engine.h"],
        ["pipeline/trace.h"],
    ),
    "inference/baselines/model.cpp": (
        ["cpu/host_network.h"],
        ["backends/create_engine.h"],
    ),
    "interop/presenter.cpp": (
        ["core/picture.h"],
        ["pipeline/trace.h"],
    ),
}


def compiles(entry, include, folder):
    """Whether a source with that include compiles as the entry's does."""
    source = pathlib.Path(folder) / "planted.cpp"
    source.write_text(f'#include "inference/{include}"\n')
    words = shlex.split(entry["command"])
    at = words.index("-c")
    words = words[: words.index("-o")] + ["-fsyntax-only", "-w", str(source)] + words[at + 2 :]
    done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    build = pathlib.Path(sys.argv[1])
    entries = json.loads((build / "compile_commands.json").read_text())
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (allowed, forbidden) in LAYERS.items():
            entry = next((e for e in entries if e["file"].endswith("/" + name)), None)
            if entry is None:
                if (ROOT / name).exists():
                    print(f"{name}: not compiled in this build")
                else:
                    bad += 1
                    print(f"{name}: there is no such source any more")
                continue
            for header in allowed + forbidden:
                done, said = compiles(entry, header, folder)
                if done != (header in allowed):
                    bad += 1
                    print(f"{name}: {header} {'compiles' if done else 'does not: ' + said[:400]}")
                elif not done and "No such file" not in said:
                    bad += 1
                    print(f"{name}: {header} fails for another reason: {said[:400]}")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
