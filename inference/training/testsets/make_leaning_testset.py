#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes photos of validation people before objects as large as they are
(augment.distractors.add_backrests), with their mattes. They show whether a network takes a chair's
back for shoulders.

    python3 inference/training/testsets/make_leaning_testset.py DATA leaning/
    matte-cli evaluate --size 384 leaning/

DATA is a folder of packs. The same packs and --seed give the same photos.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from augment import distractors, scene
from testsets.far import write_example
from train import data
from train.command_line import Parser


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    device = torch.device("cpu")
    packs = data.load_packs(args.data, device, soft=False)
    rooms, people = packs.backgrounds, packs.validation
    rng = scene.RandomGenerator(args.seed, device)
    for i, source in enumerate(people.sources):
        image, alpha = distractors.add_backrests(*people.photo(i), rooms, rng, 0.5, rate=1.0)
        write_example(os.path.join(args.out, os.path.basename(source)), str(i), image, alpha)


if __name__ == "__main__":
    main()
