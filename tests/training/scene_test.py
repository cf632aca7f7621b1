#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Composition and augmentation of scenes: geometry of people and mattes, objects, light, cameras.

    /usr/bin/python3 tests/training/scene_test.py

Exit status 77 where PyTorch is missing.
"""

import sys

from training_support import CPU, photos, run_all

import torch
from torch.nn import functional as F

from augment import camera, distractors, scene, style
from train import data


def test_warp_of_nothing_is_the_photo():
    people, _ = photos()
    extent = people.sizes[:1]
    one = torch.ones(1)
    pixels, inside = scene.warp(
        people, torch.tensor([0]), extent / 2, torch.ones(1, 2), 0 * one, one, (64, 48)
    )
    assert torch.allclose(pixels[:, :3], people.photo(0)[0], atol=1e-5) and inside.all()


def test_geometry_keeps_photo_and_matte_together():
    people, _ = photos()
    random = scene.RandomGenerator(3, CPU)
    index, size = torch.tensor([0, 1, 2, 3] * 4), (48, 64)
    for name, pixels in (
        ("crop", scene.random_crop(people, index, size, random, 1.0)[0]),
        ("place", scene.random_placement(people, index, size, 0.5, random, 1.0)),
    ):
        image, alpha = pixels[:, :3], pixels[:, 3:]
        visible = alpha > 0.02  # a placed photo has no matte beyond its edges
        assert alpha.max() > 0.9
        assert (image[:, :1] - (0.1 + 0.8 * alpha))[visible].abs().max() < 0.02, name


def test_optics_move_photo_and_matte_together():
    random = scene.RandomGenerator(5, CPU)
    alpha = torch.zeros(16, 1, 48, 48)
    alpha[:, :, 10:30, 12:36] = 1
    image, smeared = camera.apply_optics(
        alpha.expand(-1, 3, -1, -1).clone(), alpha.clone(), random, 1.0
    )
    moved = (smeared != alpha).flatten(1).any(1)
    assert moved.any() and not moved.all()
    centre = torch.arange(48.0)
    for planes in (image[:, :1], smeared):
        mass = planes.sum((1, 2, 3))
        assert torch.allclose(
            (planes.sum(3) * centre).sum((1, 2)) / mass, torch.full((16,), 19.5), atol=0.3
        )


def test_some_pictures_are_sharpened():
    """Steeper at an edge than the scene is, and nowhere else changed. Strength 0 leaves out blur
    and small sensors."""
    edge = torch.sigmoid(torch.arange(48.0) - 23.5).expand(40, 3, 48, 48).clone()
    image, alpha = camera.apply_optics(
        edge.clone(), edge[:, :1].clone(), scene.RandomGenerator(2, CPU), 0.0
    )
    sharpened = (image != edge).flatten(1).any(1)
    assert 0.1 * len(edge) < int(sharpened.sum()) < 0.5 * len(edge)
    steepest = (image[sharpened, ..., 1:] - image[sharpened, ..., :-1]).amax((1, 2, 3))
    assert (steepest > (edge[0, ..., 1:] - edge[0, ..., :-1]).max()).all() and torch.equal(
        alpha, edge[:, :1]
    )
    assert torch.allclose(image[..., :12], edge[..., :12], atol=1e-3) and torch.allclose(
        image[..., -12:], edge[..., -12:], atol=1e-3
    )


def test_scenes_are_finite_repeatable_and_varied():
    scenes = [
        scene.compose(*photos(), 32, (64, 96), scene.RandomGenerator(7, CPU)) for _ in range(2)
    ]
    for first, second in zip(*scenes):
        assert torch.equal(first, second)
    image, alpha, soft = scenes[0]
    assert image.shape == (32, 3, 64, 96) and alpha.shape == (32, 1, 64, 96)
    for planes in (image, alpha):
        assert planes.isfinite().all() and planes.min() >= 0 and planes.max() <= 1
    assert (alpha.amax((1, 2, 3)) == 0).any(), "no empty room among 32 scenes"
    assert soft.any() and not soft.all()


def test_some_rooms_are_as_dark_as_the_hair_before_them():
    person, alpha = torch.ones(200, 3, 40, 20), torch.zeros(200, 1, 40, 20)
    alpha[:, :, 10:, 5:15] = 1
    person[:, :, :13] = 0  # the uppermost tenth
    light = scene.harmonise(
        torch.full_like(person, 0.5), person, alpha, scene.RandomGenerator(9, CPU)
    ).mean((1, 2, 3))
    dark = light < 0.2
    assert 0.15 < dark.float().mean() < 0.35 and light[~dark].min() > 0.35


def test_furniture_is_background():
    random = scene.RandomGenerator(11, CPU)
    image, alpha = torch.full((24, 3, 48, 64), 0.9), torch.zeros(24, 1, 48, 64)
    after, matte = scene.add_furniture(image.clone(), alpha, random)
    assert matte.max() == 0 and (after - image).abs().amax((1, 2, 3)).gt(0.1).float().mean() > 0.7


def test_what_is_held_belongs_to_the_person_in_every_matte():
    n, rooms = 200, photos()[1]
    image, mattes = (
        torch.full((n, 3, 48, 64), 3.0),
        torch.zeros(n, 2, 48, 64),
    )  # brighter than any thing; in the second matte a teacher saw nobody
    mattes[: n // 2, :1, 8:, 20:44] = 1  # the others are empty rooms
    after, held = distractors.add_held_objects(
        image, mattes, rooms, scene.RandomGenerator(8, CPU), 1.0
    )
    changed = (after - image).abs().amax(1, keepdim=True) > 0.3
    holding = changed.flatten(1).any(1)
    assert (
        0.5 < holding[: n // 2].float().mean() / distractors.HELD_RATE < 1.5
        and not holding[n // 2 :].any()
    )
    assert held[changed.expand_as(held)].min() > 0.05 and held[:, 1:][changed].mean() > 0.8
    assert (
        torch.equal(held[~holding, :1], mattes[~holding, :1])
        and (held[:, :1] >= mattes[:, :1]).all()
    )
    beyond = (held[holding, :1] - mattes[holding, :1]).amax((1, 2, 3)) > 0.9
    assert beyond.float().mean() > 0.5, "most things reach beyond the person"
    assert held[:, 1, :16].max() < 0.1, "nothing before a face"


def test_what_stands_near_people_belongs_to_nobody():
    n, rooms = 200, photos()[1]
    image, mattes = torch.full((n, 3, 48, 64), 3.0), torch.zeros(n, 2, 48, 64)
    mattes[: n // 2, :1, 8:, 20:44] = 1  # the others are empty rooms, where a teacher
    mattes[n // 2 :, 1:] = 1  # saw people everywhere
    after, beside = distractors.add_nearby_objects(
        image, mattes, rooms, scene.RandomGenerator(8, CPU), 1.0
    )
    changed = (after - image).abs().amax(1, keepdim=True) > 0.3
    standing = changed.flatten(1).any(1)
    assert 0.5 < standing.float().mean() / distractors.NEARBY_RATE < 1.5
    assert not changed[: n // 2, :, 8:, 20:44].any() and torch.equal(
        beside[:, :1], mattes[:, :1]
    ), "all of it is behind people"
    assert (
        beside[:, 1:][changed].max() < 0.95 and beside[n // 2 :, 1:][changed[n // 2 :]].mean() < 0.2
    )
    touching = changed[: n // 2, :, 7:, 19:45].flatten(1).any(1)[standing[: n // 2]]
    assert touching.float().mean() > 0.5, "most reach people's outlines"


def test_people_lean_on_things_that_belong_to_nobody():
    n, rooms = 200, photos()[1]
    image, mattes = torch.full((n, 3, 48, 64), 3.0), torch.zeros(n, 2, 48, 64)
    mattes[:, :1, 16:, 24:40] = 1
    mattes[:, 1:] = 1  # a teacher saw people everywhere
    after, beside = distractors.add_backrests(
        image, mattes, rooms, scene.RandomGenerator(5, CPU), 1.0
    )
    changed = (after - image).abs().amax(1, keepdim=True) > 0.3
    leaning = changed.flatten(1).any(1)
    assert 0.5 < leaning.float().mean() / distractors.BACKREST_RATE < 1.5
    assert not changed[:, :, 16:, 24:40].any() and torch.equal(beside[:, :1], mattes[:, :1]), (
        "all of it is behind people"
    )
    assert beside[:, 1:][changed].max() < 0.95
    shoulders = changed[leaning, :, 15:30, 23:41].flatten(1).any(1)
    assert shoulders.float().mean() > 0.9, "most are seen beside head and shoulders"


def test_clothes_that_nobody_wears_belong_to_nobody():
    matte = torch.zeros(1, 64, 48, dtype=torch.uint8)
    matte[0, 4:60, 12:36] = 255
    coat = torch.full((3, 64, 48), 102, dtype=torch.uint8)
    coat[:, :16] = 255  # the head, by far the brightest
    people = data.PhotoSet([("labelled/made", coat, matte, False)], CPU)
    n = 200
    image, mattes = (
        torch.full((n, 3, 48, 64), 3.0),
        torch.ones(n, 2, 48, 64),
    )  # a teacher saw people everywhere
    mattes[:, :1] = 0
    mattes[: n // 2, :1, 8:, 20:44] = 1  # the others are empty rooms
    after, left = distractors.add_hanging_clothes(
        image, mattes, people, scene.RandomGenerator(8, CPU)
    )
    changed = (after - image).abs().amax(1, keepdim=True) > 0.3
    hung = changed.flatten(1).any(1)
    assert 0.5 < hung.float().mean() / distractors.CLOTHES_RATE < 1.5
    assert not changed[: n // 2, :, 8:, 20:44].any() and torch.equal(left[:, :1], mattes[:, :1]), (
        "all of it is behind people"
    )
    whole = (left[:, 1:] < 0.01) & changed
    assert whole.any() and after[whole.expand_as(after)].max() < 0.41, "nobody's head hangs there"
    # Cut off by the photo's edge: where his coat begins and ends is not known.
    nobody = data.PhotoSet([("labelled/made", coat, torch.full_like(matte, 255), False)], CPU)
    assert torch.equal(
        distractors.add_hanging_clothes(image, mattes, nobody, scene.RandomGenerator(8, CPU))[0],
        image,
    )


def test_some_pictures_are_in_the_light_of_a_room():
    n, rooms = 200, photos()[1]  # one colour each, dark
    image = torch.full((n, 3, 48, 64), 0.9)
    image[:, :, :, 20:44] = 0.7
    after = style.transfer_colour(image, rooms, scene.RandomGenerator(2, CPU))
    toned = (after != image).flatten(1).any(1)
    assert 0.5 < toned.float().mean() / style.COLOUR_TRANSFER_RATE < 1.5
    assert (after[toned].mean() < 0.8 * image.mean()) and after.min() >= 0 and after.max() <= 1


def test_drawn_people_are_flat_and_keep_their_outline():
    n = 200
    image, alpha = (
        torch.rand(n, 3, 192, 256, generator=torch.Generator().manual_seed(1)),
        torch.zeros(n, 1, 192, 256),
    )
    alpha[:, :, 32:, 80:176] = 1
    image = torch.lerp(0.3 * image, 0.7 + 0.3 * image, alpha)  # dark behind, light on the person
    after = style.cartoonise(image, alpha, scene.RandomGenerator(3, CPU))
    drawn = (after != image).flatten(1).any(1)
    assert 0.5 < drawn.float().mean() / style.CARTOON_RATE < 1.5
    inside, outside = after[drawn][..., 32:, 80:176], after[drawn][..., :80]
    assert inside.std((2, 3)).mean() < 0.7 * image[drawn][..., 32:, 80:176].std((2, 3)).mean(), (
        "flatter"
    )
    assert inside.min() > 0.45 and outside.max() < 0.45, "what is behind does not shine through"
    rooms_too = (outside != image[drawn][..., :80]).flatten(1).any(1)
    assert rooms_too.any() and not rooms_too.all()


def test_shadows_fall_on_the_room_alone():
    n = 200
    image, alpha = torch.full((n, 3, 48, 64), 0.5), torch.zeros(n, 1, 48, 64)
    alpha[: n // 2, :, 8:40, 20:44] = 1  # the others are empty rooms
    after = camera.add_shadows(image.clone(), alpha, scene.RandomGenerator(4, CPU))
    darker = (image - after).amax(1, keepdim=True)
    shadowed = darker.flatten(1).amax(1) > 0.05
    assert (
        0.5 < shadowed[: n // 2].float().mean() / camera.SHADOW_RATE < 1.5
        and not shadowed[n // 2 :].any()
    )
    assert torch.equal(after[: n // 2, :, 8:40, 20:44], image[: n // 2, :, 8:40, 20:44]), (
        "nobody's own shadow lies on him"
    )
    below = darker[shadowed, :, 40:].amax((1, 2, 3)) > 0.05
    assert below.any() and not below.all(), "some lie before the feet"


def test_only_whole_people_stand_clear_of_the_lower_edge():
    matte = torch.zeros(1, 64, 48, dtype=torch.uint8)
    matte[0, 20:60, 16:32] = 255
    for bottom, floats in ((60, True), (64, False)):
        matte[0, 20:bottom, 16:32] = 255
        photo = matte.expand(3, -1, -1)
        people = data.PhotoSet([("labelled/made", photo, matte, False)], CPU)
        placed = scene.random_placement(
            people,
            torch.zeros(64, dtype=torch.long),
            (64, 96),
            0.3,
            scene.RandomGenerator(12, CPU),
            0.0,
        )[:, 3]
        seen = placed.amax((1, 2)) > 0.5
        assert seen.float().mean() > 0.9
        clear = (
            placed[seen, -8:].amax((1, 2)) < 0.5
        )  # an eighth of the frame, more than below the person in the photo
        assert clear.any() == floats, (bottom, clear.sum())


def test_cameras_stay_in_range():
    random = scene.RandomGenerator(13, CPU)
    image = torch.rand(8, 3, 56, 72)
    bright = camera.add_noise_and_compression(
        camera.jitter_colour(camera.change_backlight(image, image[:, :1], random), random, 1.0),
        random,
    )
    assert bright.isfinite().all() and bright.min() >= 0 and bright.max() <= 1
    flat = torch.full((1, 3, 32, 32), 0.5)
    assert torch.allclose(camera.jpeg_compress(flat, random), flat, atol=0.07)
    basis = camera.dct_matrix(CPU)
    assert torch.allclose(basis @ basis.T, torch.eye(8), atol=1e-5)


def test_frames_follow_each_other_by_small_moves_and_large_ones():
    random, size = scene.RandomGenerator(14, CPU), (24, 40)
    where = camera.random_motion(400, size, random)
    still = F.affine_grid(torch.eye(2, 3).expand(400, 2, 3), (400, 1, *size), align_corners=False)
    pixels = ((where - still) * torch.tensor([20.0, 12.0])).norm(dim=-1)
    farthest = pixels.amax((1, 2))
    assert 0.3 < (farthest < 2.9).float().mean() < 0.7 and 3 < farthest.max() < 12
    assert (farthest < 2.9).logical_and(
        pixels.amax((1, 2)) - pixels.amin((1, 2)) > 1e-3
    ).float().mean() < 0.2  # small ones don't turn


def test_turned_frames_keep_their_shape():
    """A square stays one however long the frame is."""
    random, size = scene.RandomGenerator(15, CPU), (20, 60)
    where = camera.random_motion(50, size, random) * torch.tensor([30.0, 10.0])
    across, down = where[:, 0, 1] - where[:, 0, 0], where[:, 1, 0] - where[:, 0, 0]
    assert (
        torch.allclose(across.norm(dim=1), down.norm(dim=1), atol=1e-4)
        and (across * down).sum(1).abs().max() < 1e-4
    )


def test_what_both_frames_show_is_the_same_there():
    random, size = scene.RandomGenerator(16, CPU), (64, 96)
    y, x = torch.meshgrid(torch.arange(64.0), torch.arange(96.0), indexing="ij")
    ramps = torch.stack([x, y]).expand(40, 2, 64, 96)
    where = camera.random_motion(40, size, random)
    both = camera.visible_in_both(where) > 0
    seen = (where + 1) * torch.tensor([48.0, 32.0]) - 0.5
    wanted = seen.permute(0, 3, 1, 2)
    assert 0.7 < both.float().mean() < 0.98
    assert ((camera.apply_motion(ramps, where) - wanted).abs() * both).max() < 1e-3
    assert torch.equal(camera.visible_in_both(where, 0) > 0, (where.abs() < 1).all(-1).unsqueeze(1))


if __name__ == "__main__":
    sys.exit(run_all(globals()))
