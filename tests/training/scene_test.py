#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Composition and augmentation of scenes: geometry of people and mattes, objects, light, cameras.

    /usr/bin/python3 tests/training/scene_test.py

Exit status 77 where PyTorch is missing.
"""

import sys

from training_support import CPU, packs, photos, run_all

import torch

from augment import camera, distractors, limbs, motion, scene, strands, style
from augment.sampling import RandomGenerator
from train import data


def still(n):
    """The motion of n people who stand still."""
    return motion.identity_motion(n, CPU)


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
    random = RandomGenerator(3, CPU)
    index, size = torch.tensor([0, 1, 2, 3] * 4), (48, 64)
    for name, pixels in (
        ("crop", scene.random_crop(people, index, size, random, 1.0)[0]),
        ("place", scene.random_placement(people, index, size, 0.5, random, 1.0, still(16))),
    ):
        image, alpha = pixels[:, :3], pixels[:, 3:]
        visible = alpha > 0.02  # a placed photo has no matte beyond its edges
        assert alpha.max() > 0.9
        assert (image[:, :1] - (0.1 + 0.8 * alpha))[visible].abs().max() < 0.02, name


def test_optics_move_photo_and_matte_together():
    random = RandomGenerator(5, CPU)
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
        edge.clone(), edge[:, :1].clone(), RandomGenerator(2, CPU), 0.0
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
    scenes = [scene.compose(*photos(), 32, (64, 96), RandomGenerator(7, CPU)) for _ in range(2)]
    for first, second in zip(*scenes):
        assert torch.equal(first, second)
    image, alpha, soft, _ = scenes[0]
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
        torch.full_like(person, 0.5), person, alpha, RandomGenerator(9, CPU)
    ).mean((1, 2, 3))
    dark = light < 0.2
    assert 0.15 < dark.float().mean() < 0.35 and light[~dark].min() > 0.35


def test_furniture_is_background():
    random = RandomGenerator(11, CPU)
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
        image, mattes, rooms, still(n), RandomGenerator(8, CPU), 1.0
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
        image, mattes, rooms, RandomGenerator(8, CPU), 1.0
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
    after, beside = distractors.add_backrests(image, mattes, rooms, RandomGenerator(5, CPU), 1.0)
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
    after, left = distractors.add_hanging_clothes(image, mattes, people, RandomGenerator(8, CPU))
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
        distractors.add_hanging_clothes(image, mattes, nobody, RandomGenerator(8, CPU))[0],
        image,
    )


def test_some_pictures_are_in_the_light_of_a_room():
    n, rooms = 200, photos()[1]  # one colour each, dark
    image = torch.full((n, 3, 48, 64), 0.9)
    image[:, :, :, 20:44] = 0.7
    after = style.transfer_colour(image, rooms, RandomGenerator(2, CPU))
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
    after = style.cartoonise(image, alpha, RandomGenerator(3, CPU))
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
    after = camera.add_shadows(image.clone(), alpha, RandomGenerator(4, CPU))
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
            RandomGenerator(12, CPU),
            0.0,
            still(64),
        )[:, 3]
        seen = placed.amax((1, 2)) > 0.5
        assert seen.float().mean() > 0.9
        clear = (
            placed[seen, -8:].amax((1, 2)) < 0.5
        )  # an eighth of the frame, more than below the person in the photo
        assert clear.any() == floats, (bottom, clear.sum())


def test_cameras_stay_in_range():
    random = RandomGenerator(13, CPU)
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


def test_what_is_drawn_is_the_same_in_all_frames_of_a_sequence():
    random = RandomGenerator(14, CPU, frames=3)
    values = random.uniform(0, 1, 12, 2).unflatten(0, (4, 3))
    assert (
        torch.equal(values, values[:, :1].expand(-1, 3, -1)) and values[:, 0].unique().numel() == 8
    )
    assert random.each_frame.normal(1, 12).unique().numel() == 12
    chosen = random.subset(0.7, 12)
    assert 0 < len(chosen) < 12
    assert torch.equal(chosen.view(-1, 3), chosen[::3].view(-1, 1) + torch.arange(3))
    assert torch.equal(random.of_first_frame(torch.arange(6)), torch.tensor([0, 0, 0, 3, 3, 3]))


def test_people_move_and_some_stand_still():
    frames, n = 5, 400
    random = RandomGenerator(15, CPU, frames)
    moved = motion.random_motion(n, (48, 64), random, 0.5)
    way = moved[:, :, 2].unflatten(0, (-1, frames))
    length = (way[:, 1:] - way[:, :-1]).norm(dim=2).mean(1)  # pixels a frame
    assert 0.3 < (length < 0.15).float().mean() < 0.8 and 0.5 < length.max() < 0.1 * 64
    back = motion.inverse_motion(moved)
    point = torch.rand(n, 7, 2) * 40 - 20
    there = torch.einsum("nij,npj->npi", moved[..., :2], point) + moved[:, None, :, 2]
    again = torch.einsum("nij,npj->npi", back[..., :2], there) + back[:, None, :, 2]
    assert torch.allclose(again, point, atol=1e-3)
    first = random.of_first_frame(moved)
    kept = motion.follow(point, first, first)
    assert torch.allclose(kept, point, atol=1e-3)


def test_a_photo_moves_as_its_matte_does():
    people, _ = photos()
    random = RandomGenerator(16, CPU, frames=4)
    index, size = torch.tensor([0] * 4 + [1] * 4), (48, 64)
    moved = motion.random_motion(8, size, random, 0.0)
    pixels, _ = scene.random_crop(people, index, size, random, 1.0, moved)
    assert (pixels[:, :1] - (0.1 + 0.8 * pixels[:, 3:])).abs().max() < 0.02
    assert (pixels[1] - pixels[0]).abs().max() > 0.02


def test_scenes_with_clips_are_sequences():
    made = packs()
    random = RandomGenerator(17, CPU, frames=4)
    windows = scene.sample_clips(made.clips, 12, (48, 64), random, 0.0)
    assert windows.shape == (12, 4, 48, 64)
    image, alpha, _, moved = scene.compose(
        made.people, made.backgrounds, 32, (48, 64), random, 1.0, made.clips
    )
    assert image.shape == (32, 3, 48, 64) and moved.shape == (32, 2, 3)
    assert alpha.min() >= 0 and alpha.max() <= 1


def test_the_foreground_keeps_nothing_of_the_room():
    alpha = torch.zeros(1, 1, 48, 64)
    alpha[..., 30:] = 1
    alpha[..., 26:30] = 0.5
    colour = torch.tensor([0.2, 0.4, 0.8]).view(1, 3, 1, 1)
    image = torch.lerp(torch.full((1, 3, 48, 64), 0.9), colour.expand(-1, -1, 48, 64), alpha)
    found = scene.estimate_foreground(image, alpha)[..., 26:]
    assert (found - colour).abs().mean() < 0.4 * (image[..., 26:] - colour).abs().mean()


def test_strands_have_the_alpha_of_what_they_cover():
    """A straight strand half a pixel wide covers half of each pixel on its way."""
    points = torch.stack([torch.linspace(-20, 20, 21), torch.full((21,), 0.0)], 1).view(1, 1, 21, 2)
    step, width = torch.full((1, 1), 2.0), torch.full((1, 1), 0.5)
    colour = torch.tensor([0.9, 0.5, 0.1]).view(1, 1, 3)
    drawn, alpha = strands.draw_strands(points, step, width, colour, (32, 64))
    column = -torch.log1p(-alpha[0, 0, :, 16])
    assert abs(float(column.sum()) - 0.5) < 0.05, "near its root, across"
    assert torch.allclose(drawn[0, :, 16, 20], colour[0, 0], atol=1e-3)


def test_strands_grow_on_people_and_join_their_mattes():
    n = 60
    image, mattes = torch.full((n, 3, 48, 64), 0.9), torch.zeros(n, 2, 48, 64)
    mattes[: n // 2, :, 16:, 20:44] = 1  # the others are empty rooms
    image[: n // 2, :, 16:, 20:44] = 0.2
    after, hairy = strands.add_strands(image.clone(), mattes, still(n), RandomGenerator(18, CPU))
    grown = (hairy - mattes).amax((1, 2, 3)) > 0.05
    assert 0.4 < grown[: n // 2].float().mean() / strands.STRAND_RATE < 1.6
    assert not grown[n // 2 :].any() and (hairy >= mattes - 1e-6).all()
    mixed = (0.9 - after[:, :1]) / 0.9
    covered = (hairy[:, :1] - mattes[:, :1]) > 0.3
    assert mixed[covered].min() > 0, "the picture is darker wherever there is hair"
    assert torch.equal(after[~grown], image[~grown])


def test_arms_are_raised_by_people_and_belong_to_them():
    n = 300
    image, mattes = torch.full((n, 3, 96, 128), 3.0), torch.zeros(n, 2, 96, 128)
    mattes[: n // 2, :, 48:, 40:88] = 1  # the others are empty rooms
    after, matte = limbs.add_arms(image, mattes, still(n), RandomGenerator(19, CPU))
    changed = (after - image).abs().amax(1, keepdim=True) > 0.3
    raised = changed.flatten(1).any(1)
    expected = 1 - (1 - limbs.LIMB_RATES[0]) * (1 - limbs.LIMB_RATES[1])
    assert 0.5 < raised[: n // 2].float().mean() / expected < 1.6 and not raised[n // 2 :].any()
    assert matte[changed.expand_as(matte)].min() > 0.05
    beyond = (matte - mattes)[raised, :1].flatten(1).sum(1)
    assert (beyond > 20).float().mean() > 0.5, "most reach beyond the person"


def test_a_light_that_flickers_keeps_the_scene():
    random = RandomGenerator(20, CPU, frames=4)
    image = torch.full((80, 3, 8, 8), 0.4)
    lit = camera.flicker(image, random).unflatten(0, (-1, 4)).mean((2, 3, 4))
    depth = lit.std(1)
    assert (depth > 0.02).any() and (depth < 0.01).float().mean() > 0.5


if __name__ == "__main__":
    sys.exit(run_all(globals()))
