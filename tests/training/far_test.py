#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Photos of people far away, as inference/training/far.py makes them. Exit status 77 where PyTorch is missing.

    /usr/bin/python3 tests/training/far_test.py
"""
import os
import random
import sys
import tempfile

try:
    import torch
    from PIL import Image
except ImportError as error:
    print(f"skipped: {error.name} is not installed (on Debian: apt install python3-torch python3-pil)")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "inference", "training"))
import far  # noqa: E402
from smoke_test import disc, pack  # noqa: E402


def test_the_matte_moves_with_the_person():
    photo, matte = (planes.float()[None] / 255 for planes in disc(40, 30, seed=1))
    room = torch.full((1, 3, 120, 160), 0.1)
    for above in (False, True):
        picture, alpha = far.far_away(photo, matte, room, random.Random(3), above)
        assert alpha.sum() == matte.sum(), "all of the person, at the same size"
        assert (picture[:, :1] - (0.1 + 0.8 * alpha)).abs().mean() < 0.02, "bright where somebody is"
        assert bool(alpha[:, :, -1].max() == matte[:, :, -1].max()) or above, "portraits stand on the lower edge"


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
            assert image.size == (200, 150) and image.mode == ("RGB" if name.endswith(".jpg") else "L"), name


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name} passed")
