#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes photos of people far away, with their mattes: validation people, as large as they are, somewhere in a large empty room. What a closer look is worth:

    python3 far.py DATA far/ --size 2000x1500
    matte-cli evaluate far/                  people far away are looked at twice
    matte-cli evaluate --size 512 far/       once

DATA is a folder of packs. Full bodies stand a little above the lower edge, every second portrait on it; the same photos for the same packs, size and --seed.
"""
import argparse
import os
import random
import sys
from pathlib import Path

import torch
from PIL import Image
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data
from train.refine import resample

SOURCES = {"labelled/clothing-co-parsing": 1, "labelled/eg1800": 2}  # every n-th of each


def far_away(photo, matte, room, draw, above):
    """RGB [1, 3, h, w] and its matte in an enlarged room [1, 3, H, W]: the new photo, and the matte as large as it."""
    (h, w), (height, width) = photo.shape[2:], room.shape[2:]
    top, left = height - h - (draw.randint(0, height // 8) if above else 0), draw.randint(0, width - w)
    soft = F.avg_pool2d(F.pad(matte, (1, 1, 1, 1), mode="replicate"), 3, 1)  # labels have hard edges, photos don't
    picture, alpha = room.clone(), torch.zeros(1, 1, height, width)
    there = (..., slice(top, top + h), slice(left, left + w))
    picture[there] = torch.lerp(picture[there], photo, soft)
    alpha[there] = matte
    return (picture + 0.01 * torch.randn_like(picture)).clamp(0, 1), alpha


def save(planes, path, **options):
    pixels = (planes[0] * 255 + 0.5).byte().permute(1, 2, 0).contiguous()
    mode = "RGB" if pixels.shape[2] == 3 else "L"
    Image.frombytes(mode, (pixels.shape[1], pixels.shape[0]), bytes(pixels.flatten().tolist())).save(path, **options)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("out")
    parser.add_argument("--size", default="2000x1500", help="of the new photos; at least as large as the people's")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    width, height = (int(side) for side in args.size.split("x"))
    _, rooms, people = data.load(args.data, torch.device("cpu"))
    draw = random.Random(args.seed)
    torch.manual_seed(args.seed)
    seen = dict.fromkeys(SOURCES, 0)
    for i, source in enumerate(people.sources):
        if source not in SOURCES:
            continue
        seen[source] += 1
        if seen[source] % SOURCES[source]:
            continue
        room = resample(rooms.photo(draw.randrange(len(rooms)))[0], height, width)
        picture, alpha = far_away(*people.photo(i), room, draw, above="clothing" in source)
        folder = os.path.join(args.out, source.split("/")[1])
        os.makedirs(folder, exist_ok=True)
        save(picture, os.path.join(folder, f"{i}.jpg"), quality=92)
        save(alpha, os.path.join(folder, f"{i}.png"))


if __name__ == "__main__":
    main()
