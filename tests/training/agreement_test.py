#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`matte-cli evaluate` and inference/training/train/evaluate.py must give the same numbers, to the
fourth digit, for the same photos and model. Exit status 77 where PyTorch is missing.

    /usr/bin/python3 tests/training/agreement_test.py build/release/inference/matte-cli \\
        [FOLDER_OF_PHOTOS_WITH_MATTES [MODEL [SIZE...]]]

Without a folder, pictures are made up: bright people-like shapes, soft at the edge, on a textured
ground.
"""

import json
import os
import subprocess
import sys
import tempfile

from training_support import ROOT

import torch

from train import data, evaluate, metrics, model

try:
    from PIL import Image
except ImportError as error:
    print(
        f"skipped: {error.name} is not installed (on Debian: apt install python3-torch python3-pil)"
    )
    sys.exit(77)

MODEL = os.path.join(ROOT, "resources", "models", "portrait.safetensors")
NAMES = {
    "miou": "meanIou",
    "person": "personIou",
    "away": "uncertainAway",
    "worst": "worstTenth",
}  # where the programs differ
BAND_NAMES = {
    "sad": "band_sad",
    "mse": "band_mse",
    "gradient": "band_gradient",
    "connectivity": "band_connectivity",
    "hairGradient": "hair_gradient",
    "photos": "bands",
}


def make_photos(folder, count=3):
    """Photos of a head and shoulders before stripes and noise; the first has a hard edge."""
    for i in range(count):
        generator = torch.Generator().manual_seed(i)
        height, width = 300 + 20 * i, 230 + 30 * i
        y, x = torch.meshgrid(
            torch.arange(height).float(), torch.arange(width).float(), indexing="ij"
        )
        head = 0.16 * height - torch.hypot(x - 0.5 * width, y - 0.4 * height)
        shoulders = 0.36 * width - torch.hypot(x - 0.5 * width, 0.8 * (y - height))
        alpha = (torch.maximum(head, shoulders) / (0.5 + 3 * i) + 0.5).clamp(0, 1)
        ground = (
            0.35
            + 0.25 * torch.sin(x / 9 + y / (7 + i))
            + 0.1 * torch.rand(height, width, generator=generator)
        )
        skin = torch.where(
            head > shoulders, torch.tensor(0.8), torch.tensor(0.25)
        ) + 0.05 * torch.rand(height, width, generator=generator)
        grey = torch.lerp(ground, skin, alpha).clamp(0, 1)
        photo = torch.stack([grey, 0.85 * grey, 0.7 * grey], -1)
        for pixels, mode, name in ((photo, "RGB", f"{i}.jpg"), (alpha, "L", f"{i}.png")):
            raw = bytes((pixels * 255 + 0.5).to(torch.uint8).flatten().tolist())
            Image.frombytes(mode, (width, height), raw).save(
                os.path.join(folder, name), **({"quality": 90} if mode == "RGB" else {})
            )


def compare(program, folder, path, sizes):
    """How many numbers differ; prints both."""
    command = [
        program,
        "evaluate",
        folder,
        "--engine",
        "cpu",
        "--model",
        path,
        "--size",
        ",".join(map(str, sizes)),
        "--json",
    ]
    # The engine in single precision, as PyTorch.
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": os.environ.get("ONEDNN_MAX_CPU_ISA", "AVX2")}
    report = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout
    )
    net = model.load_model(path)[0].to(memory_format=torch.channels_last)
    table = evaluate.evaluate(
        net, data.load_folder(folder, torch.device("cpu")), sizes, refined=True, full=True
    )
    found = max(groups["all"]["person"] for groups in table.values())
    assert found > 0.2, "hardly anybody is found: two empty mattes agree in everything"
    wrong = 0
    names = (*metrics.FAST_METRICS, *metrics.SLOW_METRICS, *metrics.BAND_METRICS, "worst")
    print(f"{'size':>5} {'measure':17} {'matte-cli':>10} {'PyTorch':>10}")
    for size, entry in zip(sizes, report["sizes"]):
        ours = table[str(size)]["all"]
        assert entry["all"]["photos"] == ours["photos"], "the programs found different photos"
        band = entry["all"]["band"] or {"photos": 0}
        assert band["photos"] == ours["bands"], "the programs found different mattes soft"
        scores = {**entry["all"], **{BAND_NAMES[name]: value for name, value in band.items()}}
        for name in (name for name in names if name in ours):
            theirs = scores[NAMES.get(name, name)]
            # Four digits: decimals of a share, significant ones of a sum.
            bad = abs(theirs - ours[name]) > 1e-4 * max(1.0, abs(theirs))
            wrong += bad
            print(
                f"{size:5} {name:17} {theirs:10.5f} {ours[name]:10.5f}{'  differ' if bad else ''}"
            )
    return wrong


def main(program, folder=None, path=MODEL, *sizes):
    torch.set_num_threads(2)
    sizes = [int(size) for size in sizes] or [384, 512]
    with tempfile.TemporaryDirectory() as scratch:
        if not folder:
            make_photos(scratch)
        wrong = compare(program, folder or scratch, path, sizes)
    print(f"{wrong} numbers differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
