# SPDX-License-Identifier: Apache-2.0
"""What the trainer's tests share. Ends the test with exit status 77 where PyTorch is missing."""

import os
import sys
import traceback
import zipfile
from pathlib import Path

try:
    import torch
except ImportError:
    print("skipped: torch is not installed (on Debian: apt install python3-torch python3-pil)")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "inference" / "training"))

from train import data, train
from train.distributed import Distributed
from train.trainer import Trainer

ROOT = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu")


def disc(height, width, seed):
    """A photo of a bright disc at the lower edge, on a dark ground, and its matte: the person is
    wherever it is bright."""
    generator = torch.Generator().manual_seed(seed)
    y, x = torch.meshgrid(torch.arange(height).float(), torch.arange(width).float(), indexing="ij")
    radius = 0.3 * min(height, width) * (1 + 0.3 * torch.rand(1, generator=generator))
    matte = (radius - torch.hypot(x - width / 2, y - 0.7 * height) + 0.5).clamp(0, 1)
    photo = (0.1 + 0.8 * matte).expand(3, -1, -1)
    return (photo * 255).round().byte(), (matte * 255).round().byte()[None]


def photos(device=CPU):
    sizes = [(64, 48), (60, 80), (72, 72), (80, 56)]
    people = [
        ("labelled/eg1800" if i % 2 else "pseudo/made", *disc(*size, i), i % 2 == 0)
        for i, size in enumerate(sizes)
    ]
    rooms = [
        ("backgrounds/made", torch.full((3, 50, 70), 20 + 8 * i, dtype=torch.uint8), None, False)
        for i in range(3)
    ]
    return data.PhotoSet(people, device), data.PhotoSet(rooms, device)


def packs(device=CPU):
    """People and rooms, and a clip of six frames in which the disc moves."""
    people, rooms = photos(device)
    photo, matte = disc(60, 80, 9)
    frames = [("clips/made", photo.roll(2 * i, 2), matte.roll(2 * i, 2), True) for i in range(9)]
    return data.Packs(people, rooms, None, None, data.PhotoSet(frames, device))


def trainer(*options, out):
    args = train.parse_arguments(
        [
            "unused",
            "--model",
            "tiny",
            "--out",
            out,
            "--steps",
            "4",
            "--size-scale",
            "0.125",
            "--megapixels",
            "0.01",
            *options,
        ]
    )
    dist = Distributed()
    return Trainer(args, dist, packs(dist.device))


class Skipped(Exception):
    pass


def pack(folder):
    """A pack of a validation photo, a photo for selection, three of people and two of rooms."""
    try:
        from PIL import Image
    except ImportError as error:
        raise Skipped(
            "Pillow, which reads packs, is not installed (on Debian: apt install python3-pil)"
        ) from error
    rows = ["id,split,labelled_by"]
    with zipfile.ZipFile(os.path.join(folder, "made.zip"), "w") as archive:
        splits = ("val", "dev", "train", "train", "train", "train", "train")
        for i, split in enumerate(splits):
            name = f"labelled/made/{i}"
            for part, pixels in zip(("photo", "matte"), disc(60, 48, i)):
                image = Image.frombytes(
                    "RGB" if part == "photo" else "L",
                    (48, 60),
                    bytes(pixels.permute(1, 2, 0).flatten().tolist()),
                )
                if i < 5 or part == "photo":
                    with archive.open(f"{name}.{part}.webp", "w") as file:
                        image.save(file, "PNG")
            rows.append(f"{name},{split},human")
        archive.writestr("index.csv", "\n".join(rows))


def run_all(tests):
    """Runs what begins with test_ in a module's globals; the exit status."""
    torch.set_num_threads(2)
    passed = failed = skipped = 0
    for name, test in sorted(tests.items()):
        if name.startswith("test_"):
            try:
                test()
                passed += 1
            except Skipped as why:
                skipped += 1
                print(f"skipped {name}: {why}")
            except Exception:
                failed += 1
                print(f"FAILED {name}")
                traceback.print_exc()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
