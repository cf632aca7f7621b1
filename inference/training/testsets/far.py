#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes photos of people far away, with their mattes: validation people, at their size, in a large
empty room. They show what two-pass refinement is worth:

    python3 inference/training/testsets/far.py DATA far/ --size 2000x1500
    matte-cli evaluate far/                  with two passes
    matte-cli evaluate --size 512 far/       with one

DATA is a folder of packs. Full bodies stand a little above the lower edge, every second portrait on
it. The same packs, size and --seed give the same photos.
"""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data
from train.command_line import Parser
from train.refine import resample

SOURCES = {"labelled/clothing-co-parsing": 1, "labelled/eg1800": 2}  # every n-th photo of each


def compose_far(
    photo: Tensor, matte: Tensor, room: Tensor, rng: random.Random, above: bool
) -> tuple[Tensor, Tensor]:
    """RGB [1, 3, h, w] and its matte [1, 1, h, w] in a room [1, 3, H, W], `above` its lower edge or
    on it: the new photo, and the matte of its size."""
    (h, w), (height, width) = photo.shape[2:], room.shape[2:]
    raised = rng.randint(0, height // 8) if above else 0
    top, left = height - h - raised, rng.randint(0, width - w)
    # Labels have hard edges, photos do not.
    soft = F.avg_pool2d(F.pad(matte, (1, 1, 1, 1), mode="replicate"), 3, 1)
    image, alpha = room.clone(), torch.zeros(1, 1, height, width)
    window = (..., slice(top, top + h), slice(left, left + w))
    image[window] = torch.lerp(image[window], photo, soft)
    alpha[window] = matte
    return (image + 0.01 * torch.randn_like(image)).clamp(0, 1), alpha


def write_example(folder: str, name: str, image: Tensor, alpha: Tensor) -> None:
    """Writes RGB [1, 3, h, w] as NAME.jpg and alpha [1, 1, h, w] as NAME.png."""
    os.makedirs(folder, exist_ok=True)
    data.save_picture(os.path.join(folder, f"{name}.jpg"), image, quality=92)
    data.save_picture(os.path.join(folder, f"{name}.png"), alpha)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("out")
    parser.add_argument("--size", default="2000x1500", help="of the new photos, WIDTHxHEIGHT")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    width, height = (int(side) for side in args.size.split("x"))
    packs = data.load_packs(args.data, torch.device("cpu"), soft=False)
    rooms, people = packs.backgrounds, packs.validation
    rng = random.Random(args.seed)
    torch.manual_seed(args.seed)
    seen = dict.fromkeys(SOURCES, 0)
    for i, source in enumerate(people.sources):
        if source not in SOURCES:
            continue
        seen[source] += 1
        if seen[source] % SOURCES[source]:
            continue
        room = resample(rooms.photo(rng.randrange(len(rooms)))[0], height, width)
        image, alpha = compose_far(*people.photo(i), room, rng, above="clothing" in source)
        write_example(os.path.join(args.out, source.split("/")[1]), str(i), image, alpha)


if __name__ == "__main__":
    main()
