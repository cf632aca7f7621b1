#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A test set whose mattes are exact: validation people with drawn hair, and moving ones who raise
an arm or leave a chair's back behind them.

    python3 inference/training/testsets/make_synthetic_testset.py DATA OUT [--seed 1]

Writes OUT/hair/NN.jpg with NN.png, and OUT/sequences/KIND-NN/NNNN.jpg with NNNN.png, NNNN.limb.png
(the arm) and NNNN.thing.png (what is nobody's), as `matte-cli evaluate` reads them. The same seed
gives the same pictures.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from augment import camera, distractors, limbs, scene, strands
from augment.motion import random_motion
from augment.sampling import RandomGenerator
from testsets.far import write_example
from train import data
from train.command_line import Parser

STILL_SIZE = (768, 768)  # height and width
FRAME_SIZE = (480, 640)
FRAMES_A_SECOND = 30
KINDS = ("arm", "chair")


def place_person(
    people: data.PhotoSet, rooms: data.PhotoSet, size: tuple[int, int], n: int, rng: RandomGenerator
) -> tuple[Tensor, Tensor, Tensor]:
    """n frames, in sequences of rng.frames, of somebody before a room: RGB [n, 3, H, W], alpha [n,
    1, H, W] and the person's motion [n, 2, 3]."""
    portraits = torch.tensor(
        [
            i
            for i, source in enumerate(people.sources)
            if "eg1800" in source and people.border_coverage[i, :3].max() < 0.12
        ]
    )
    chosen = rng.choice(portraits, n)
    speed_limit = 0.01 if rng.frames > 1 else 0.0005
    motion = random_motion(n, size, rng, 0.3, speed_limit)
    person = scene.random_placement(people, chosen, size, 0.7, rng, 0.0, motion)
    room = scene.sample_backgrounds(rooms, n, size, rng, 0.5)
    alpha = scene.feather(person[:, 3:], rng)
    foreground = scene.estimate_foreground(person[:, :3], person[:, 3:])
    room = scene.harmonise(room, foreground, alpha, rng)
    return torch.lerp(room, foreground, alpha), alpha, motion


def write_still(
    folder: str, name: str, people: data.PhotoSet, rooms: data.PhotoSet, seed: int
) -> None:
    """Writes a picture of somebody with drawn hair, and its matte."""
    rng = RandomGenerator(seed, "cpu")
    image, alpha, motion = place_person(people, rooms, STILL_SIZE, 1, rng)
    image, alpha = strands.add_strands(image, alpha, motion, rng, rate=1.0)
    write_example(folder, name, camera.add_noise(image, rng, 0.3), alpha)


def write_sequence(
    folder: str, kind: str, frames: int, people: data.PhotoSet, rooms: data.PhotoSet, seed: int
) -> None:
    """Writes a sequence of somebody who raises an arm (`arm`) or sits before a chair's back
    (`chair`)."""
    rng = RandomGenerator(seed, "cpu", frames)
    image, alpha, motion = place_person(people, rooms, FRAME_SIZE, frames, rng)
    # A matte of nobody holds the arm afterwards, one of everything all but the chair's back.
    if kind == "chair":
        mattes = torch.cat([alpha, torch.ones_like(alpha)], 1)
        image, mattes = distractors.add_backrests(image, mattes, rooms, rng, 0.5, rate=1.0)
        label, ending = 1 - mattes[:, 1:], "thing.png"
    else:
        mattes = torch.cat([alpha, torch.zeros_like(alpha)], 1)
        image, mattes = limbs.add_arm(image, mattes, motion, torch.arange(frames), rng)
        label, ending = mattes[:, 1:], "limb.png"
    image = camera.flicker(image, rng)
    image = camera.add_noise_and_compression(image, rng, 0.6)
    for i in range(frames):
        now = slice(i, i + 1)
        write_example(folder, f"{i:04}", image[now], mattes[now, :1])
        data.save_picture(os.path.join(folder, f"{i:04}.{ending}"), label[now])


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("out")
    parser.add_argument("--stills", type=int, default=48)
    parser.add_argument("--sequences", type=int, default=16, help="of each kind")
    parser.add_argument("--frames", type=int, default=2 * FRAMES_A_SECOND, help="of a sequence")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    packs = data.load_packs(args.data, torch.device("cpu"), soft=False)
    people, rooms = packs.validation, packs.backgrounds
    torch.manual_seed(args.seed)
    for i in range(args.stills):
        folder = os.path.join(args.out, "hair")
        write_still(folder, f"{i:02}", people, rooms, 1000 * args.seed + i)
    for kind in KINDS:
        for i in range(args.sequences):
            folder = os.path.join(args.out, "sequences", f"{kind}-{i:02}")
            seed = 1000 * args.seed + 100 * (1 + KINDS.index(kind)) + i
            write_sequence(folder, kind, args.frames, people, rooms, seed)


if __name__ == "__main__":
    main()
