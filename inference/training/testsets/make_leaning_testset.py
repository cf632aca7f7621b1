#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes photos of validation people before things as large as they are (distractors.leant_on), with their mattes: whether a network takes a chair's back for shoulders.

    python3 leaning.py DATA leaning/
    matte-cli evaluate --size 384 leaning/

DATA is a folder of packs; the same photos for the same packs and --seed.
"""
import argparse
import os
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from augment import distractors, scene
from testsets.far import save
from train import data


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    _, rooms, people = data.load(args.data, torch.device("cpu"))
    draw = scene.Random(args.seed, torch.device("cpu"))
    for i, source in enumerate(people.sources):
        picture, alpha = distractors.leant_on(*people.photo(i), rooms, draw, 0.5, share=1.0)
        folder = os.path.join(args.out, os.path.basename(source))
        os.makedirs(folder, exist_ok=True)
        save(picture, os.path.join(folder, f"{i}.jpg"), quality=92)
        save(alpha, os.path.join(folder, f"{i}.png"))


if __name__ == "__main__":
    main()
