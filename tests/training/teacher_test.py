#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a teacher sees in training, and the targets that it gives.

    /usr/bin/python3 tests/training/teacher_test.py

Exit status 77 where PyTorch is missing.
"""

import os
import sys
import tempfile

from training_support import run_all, trainer

import torch

from augment import camera
from augment.sampling import RandomGenerator
from train import model
from train.trainer import teacher_mattes


def test_a_teacher_may_have_more_levels():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "teacher.safetensors")
        model.save_model(path, model.UNet((4, 4, 4, 4, 4, 4)).state_dict(), {})
        learner = trainer("--model", "tiny-mobile", "--teacher", path, out=folder)
        assert learner.net.multiple < 32
        assert not any(
            block.drop_rate
            for block in learner.net.modules()
            if isinstance(block, model.Bottleneck)
        )
        assert all(side % 32 == 0 for _ in range(20) for side in learner.sample_batch_shape()[2:])
        learner.train_step()


def test_a_teacher_sees_scenes_in_good_light():
    with tempfile.TemporaryDirectory() as folder:
        learner = trainer(out=folder)
        learner.teacher = lambda picture, static: torch.sigmoid(
            20 * (picture[:, :1] - 0.1)
        )  # somebody is wherever it is bright
        lit, camera.jitter_colour = camera.jitter_colour, lambda image, *_: image * 0.01
        try:
            image, mattes, _, frames = learner.sample_batch()
        finally:
            camera.jitter_colour = lit
        assert mattes.shape[1] == 2 and image.mean() < 0.05
        label, target = mattes[:, :1], mattes[:, 1:]
        assert target[label > 0.9].mean() > 0.9 and label[label > 0.9].numel() > 0
        assert all(
            term.isfinite()
            for term in learner.losses(
                image, mattes, torch.zeros(len(image), dtype=torch.bool), frames
            ).values()
        )


def test_light_behind_people_is_another_than_on_them():
    alpha = torch.zeros(200, 1, 48, 64)
    alpha[..., 32:] = 1
    image = torch.full((200, 3, 48, 64), 0.4)
    lit = camera.change_backlight(image, alpha, RandomGenerator(3, "cpu"))
    room, people = lit[..., :16].mean((1, 2, 3)), lit[..., -16:].mean((1, 2, 3))
    changed = (lit - image).abs().amax((1, 2, 3)) > 0.01
    assert 0.5 < changed.float().mean() / camera.BACKLIGHT_RATE < 1.5 and torch.equal(
        lit[~changed], image[~changed]
    )
    assert room[changed].max() > 0.9 and room[changed].min() < 0.2, "windows and dark rooms"
    assert 0.1 < people[changed].min() and people[changed].max() < 0.7


def test_a_teacher_sees_small_frames_enlarged():
    class Bright(torch.nn.Module):
        multiple = 64

        def forward(self, picture, frames):
            self.seen = tuple(picture.shape[2:])
            return 40 * picture[:, :1]

    teacher = Bright()
    for size, seen in (
        ((192, 256), (320, 448)),
        ((192, 128), (320, 256)),
        ((320, 192), (448, 256)),
        ((384, 320), (384, 320)),
        ((576, 768), (576, 768)),
    ):
        picture = torch.zeros(1, 3, *size)
        picture[:, :, : size[0] // 2] = 1
        alpha = teacher_mattes(teacher, picture, 1)
        assert teacher.seen == seen and alpha.shape == (1, 1, *size)
        edge = size[0] // 2
        assert alpha[:, :, : edge - 2].min() > 0.99 and alpha[:, :, edge + 2 :].max() < 0.01, (
            "in the picture's own pixels"
        )


if __name__ == "__main__":
    sys.exit(run_all(globals()))
