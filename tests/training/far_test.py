#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test sets of inference/training/testsets: people far away, and people who lean on something.

    /usr/bin/python3 tests/training/far_test.py

Exit status 77 where PyTorch is missing.
"""

import os
import random
import sys
import tempfile

from training_support import disc, pack, run_all

import torch

from testsets import far, make_leaning_testset
from train import data

try:
    import numpy
    from PIL import Image
except ImportError as error:
    print(
        f"skipped: {error.name} is not installed (on Debian: apt install python3-torch python3-pil)"
    )
    sys.exit(77)


def test_the_matte_moves_with_the_person():
    photo, matte = (planes.float()[None] / 255 for planes in disc(40, 30, seed=1))
    room = torch.full((1, 3, 120, 160), 0.1)
    for above in (False, True):
        picture, alpha = far.compose_far(photo, matte, room, random.Random(3), above)
        assert alpha.sum() == matte.sum(), "all of the person, at the same size"
        assert (picture[:, :1] - (0.1 + 0.8 * alpha)).abs().mean() < 0.02, (
            "bright where somebody is"
        )
        assert bool(alpha[:, :, -1].max() == matte[:, :, -1].max()) or above, (
            "portraits stand on the lower edge"
        )


def test_a_folder_is_made_of_the_validation_people():
    with tempfile.TemporaryDirectory() as folder:
        pack(folder)
        out = os.path.join(folder, "far")
        far.SOURCES = {"labelled/made": 1}
        far.main([folder, out, "--size", "200x150"])
        made = sorted(os.listdir(os.path.join(out, "made")))
        assert made and len(made) % 2 == 0
        for name in made:
            image = Image.open(os.path.join(out, "made", name))
            assert image.size == (200, 150) and image.mode == (
                "RGB" if name.endswith(".jpg") else "L"
            ), name


def test_every_validation_person_leans_on_something():
    with tempfile.TemporaryDirectory() as folder:
        pack(folder)
        people = data.load_packs(folder, torch.device("cpu")).validation
        make_leaning_testset.main([folder, os.path.join(folder, "leaning")])
        made, changed = os.path.join(folder, "leaning", "made"), 0
        for i in range(len(people)):
            picture, alpha = (
                torch.from_numpy(numpy.array(Image.open(os.path.join(made, f"{i}.{kind}"))))
                for kind in ("jpg", "png")
            )
            photo, matte = (planes[0].permute(1, 2, 0) * 255 for planes in people.photo(i))
            certain = (matte[..., 0] < 1) | (matte[..., 0] > 254)  # of a soft edge a part is hidden
            assert (alpha - matte[..., 0])[certain].abs().max() < 1, (
                "the matte is the person's alone"
            )
            there = ((picture - photo).abs().amax(2) > 40) & (matte[..., 0] < 1)
            assert not ((picture - photo).abs().amax(2)[matte[..., 0] > 254] > 80).any(), (
                "nothing before the person"
            )
            changed += bool(there.any())
        assert changed > len(people) / 2


if __name__ == "__main__":
    sys.exit(run_all(globals()))
