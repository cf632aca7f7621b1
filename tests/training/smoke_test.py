#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Smoke test of inference/training on the CPU with generated pictures: every stage runs, and what
must hold of each holds.

    /usr/bin/python3 tests/training/smoke_test.py

Exit status 77 where PyTorch is missing.
"""

import os
import subprocess
import sys
import tempfile

from training_support import CPU, ROOT, disc, pack, photos, run_all, trainer

import torch
from torch.nn import functional as F

from train import (
    data,
    evaluate,
    export,
    losses,
    metrics,
    model,
    refine,
    schedule,
    step_times,
    train,
)


def test_photos_keep_size_and_edges():
    people, rooms = photos()
    assert len(people) == 4 and people.sizes[1].tolist() == [80, 60]
    assert people.photo(2)[0].shape == (1, 3, 72, 72)
    assert rooms.photo(0)[1].max() == 0
    half = torch.zeros(1, 4, 4, dtype=torch.uint8)
    half[0, :, :2] = 255
    assert data.border_coverage(half) == [1.0, 0.5, 0.0, 0.5]


def test_doubling_interpolates():
    planes = torch.rand(2, 1, 6, 9)
    assert torch.allclose(
        losses.upsample_2x(planes),
        F.interpolate(planes, scale_factor=2, mode="bilinear", align_corners=False),
        atol=1e-6,
    )


def test_losses_prefer_the_truth():
    people, _ = photos()
    truth = people.photo(0)[1]
    soft = torch.tensor([False])

    def loss(alpha):
        return float(
            losses.weighted_sum(
                losses.matte_loss(torch.logit(alpha.clamp(1e-4, 1 - 1e-4)), [], truth, soft),
                schedule.loss_weights(0.0),
            )
        )

    right, shifted, nothing = loss(truth), loss(truth.roll(2, 3)), loss(torch.zeros_like(truth))
    assert right < shifted < nothing
    assert losses.soft_iou_loss(truth, truth, torch.ones_like(truth)) == 0


def test_training_goes_on_where_it_stopped():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.pt")
        whole = trainer(out=folder)
        for _ in range(2):
            whole.train_step()
        first = trainer(out=folder)
        first.train_step()
        first.save(path)
        second = trainer("--seed", "1", out=folder)
        second.resume(path)
        second.train_step()
        for name, value in whole.net.state_dict().items():
            assert torch.equal(value, second.net.state_dict()[name]), name
        for name, value in whole.ema.state_dict().items():
            assert torch.allclose(value, second.ema.state_dict()[name]), name


def test_a_schedule_can_be_entered_late():
    with tempfile.TemporaryDirectory() as folder:
        late = trainer("--steps", "400", "--elapsed", "340", out=folder)
        assert (
            late.progress() == 0.85
            and abs(schedule.augmentation_strength(late.progress()) - 0.5833) < 1e-4
        )
        assert (
            late.learning_rate()
            < 0.01 * late.args.learning_rate * schedule.learning_rate_factor(0.85)
            < late.args.learning_rate
        ), "an optimiser that knows nothing yet begins slowly"
        late.train_step()
        assert late.step == 341 and late.batch_norm_frozen


def test_one_size_can_be_preferred():
    with tempfile.TemporaryDirectory() as folder:
        learner = trainer("--prefer-size", "256", out=folder)
        longest = [max(learner.sample_batch_shape()[2:]) for _ in range(400)]
        preferred = longest.count(256 * learner.args.size_scale)
        assert 200 <= preferred < 320 and len(set(longest)) == len(schedule.SIZES), (
            "half of all, and its share of the others"
        )


def test_former_flags_go_on_working():
    former = ["--rate", "0.1", "--encoder-rate=0.5", "--decay", "0.3", "--favour", "256"]
    former += ["--scale", "2", "--apart", "--scores", "--repeatable"]
    args = train.parse_arguments(["packs", *former])
    assert (args.learning_rate, args.encoder_rate_factor, args.weight_decay) == (0.1, 0.5, 0.3)
    assert (args.prefer_size, args.size_scale) == (256, 2)
    assert args.independent_replicas and args.evaluate and args.deterministic


def test_training_learns():
    with tempfile.TemporaryDirectory() as folder:
        # Half of a schedule: batch norm, whose statistics follow more slowly than weights learn one
        # batch, is not frozen yet.
        learner = trainer("--steps", "120", "--learning-rate", "0.01", out=folder)
        scenes = learner.sample_batch()
        learner.sample_batch = lambda: scenes
        sums = [
            float(
                losses.weighted_sum(
                    dict(zip(train.LOSSES, learner.train_step())), schedule.loss_weights(0.0)
                )
            )
            for _ in range(60)
        ]
        assert sums[-1] < 0.5 * sums[0], sums


def test_gradients_lie_in_one_vector():
    with tempfile.TemporaryDirectory() as folder:
        learner = trainer(out=folder)
        weights = schedule.loss_weights(0.0)
        scenes = learner.sample_batch()
        losses.weighted_sum(learner.losses(*scenes), weights).backward()
        kept = torch.autograd.grad(
            losses.weighted_sum(learner.losses(*scenes), weights), list(learner.net.parameters())
        )
        assert torch.allclose(
            learner.gradients.norm(), torch.stack([g.norm() for g in kept]).norm(), rtol=1e-5
        )
        for parameter, gradient in zip(learner.net.parameters(), kept):
            assert torch.allclose(parameter.grad, gradient, atol=1e-6)


def test_batch_norm_is_frozen():
    with tempfile.TemporaryDirectory() as folder:
        learner = trainer("--steps", "10", out=folder)
        means = []
        for _ in range(10):
            learner.train_step()
            means.append(learner.norms[0].running_mean.clone())
        begin = int(10 * schedule.FREEZE_BATCH_NORM_AT)
        assert not torch.equal(means[begin - 2], means[begin - 1])
        assert all(torch.equal(mean, means[begin - 1]) for mean in means[begin:])


def test_the_parts_of_a_step_are_timed_at_every_size():
    with tempfile.TemporaryDirectory() as folder:
        learner = trainer(out=folder)
        times = step_times.time_sizes(learner, repeats=1)
        assert list(times) == schedule.SIZES and learner.step == 4 * len(times), (
            "three steps to begin with, and the one that counts"
        )
        for parts in times.values():
            assert all(parts[name] > 0 for name in step_times.PARTS)


def two_processes(folder, *options):
    """What training in two processes says."""
    command = [
        sys.executable,
        str(ROOT / "inference" / "training" / "train" / "train.py"),
        folder,
        "--model",
        "tiny",
        "--gpus",
        "2",
        "--steps",
        "2",
        "--size-scale",
        "0.125",
    ]
    command += ["--megapixels", "0.01", "--out", folder, *options]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=200).stdout.decode()


def test_two_processes_train_together():
    with tempfile.TemporaryDirectory() as folder:
        pack(folder)
        words = two_processes(folder)
        assert "3 photos of people, 2 of rooms" in words and "step 2" in words, words
        assert torch.load(os.path.join(folder, "checkpoint.pt"))["step"] == 2


def test_replicas_are_trained_apart_and_united():
    with tempfile.TemporaryDirectory() as folder:
        pack(folder)
        words = two_processes(folder, "--independent-replicas", "--evaluate")
        assert "replica 0" in words and "replica 1" in words and "768 all" in words, words
        first, second, both = (
            torch.load(os.path.join(folder, name))["ema"]
            for name in ("replica-0.pt", "replica-1.pt", "checkpoint.pt")
        )
        assert not torch.equal(first["out.weight"], second["out.weight"])
        for name, value in both.items():
            if value.is_floating_point():
                assert torch.allclose(value, (first[name] + second[name]) / 2, atol=1e-6), name


def test_run_and_export_are_read_back():
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, path = (
            os.path.join(folder, "checkpoint.pt"),
            os.path.join(folder, "tiny.safetensors"),
        )
        learner = trainer("--stop-after", "2", out=folder)
        train.run(learner, checkpoint)
        export.main([checkpoint, path, "--longest-side", "96", "--commit", "abc"])
        net, facts = model.load_model(path)
        assert (
            facts["longest_side"] == "96"
            and facts["widths"] == "4 6 8"
            and facts["commit"] == "abc"
        )
        photos = os.path.join(folder, "photos.safetensors")
        export.main([path, photos, "--photo-side", "128"])
        assert model.load_model(photos)[1] == {**facts, "photo_side": "128"}
        ours = model.inference_state(learner.ema.state_dict())
        assert set(ours) == set(model.inference_state(net.state_dict())) and not any(
            "aux" in name for name in ours
        )
        for name, value in model.inference_state(net.state_dict()).items():
            assert torch.equal(value, ours[name].half().float()), name
        sharper = os.path.join(folder, "sharper.safetensors")
        export.main([path, sharper, "--contrast", "2"])
        picture = torch.rand(1, 3, 16, 16)
        with torch.no_grad():
            assert torch.allclose(
                model.load_model(sharper)[0](picture), 2 * net(picture), atol=1e-4
            )
        assert model.load_model(sharper)[1] == {**facts, "contrast": "2.0"}
        export.main([path, sharper, "--average", sharper])
        assert torch.allclose(
            model.load_model(sharper)[0].out.weight, 1.5 * net.out.weight, rtol=1e-3
        )
        taught = trainer("--teacher", path, out=folder)
        taught.train_step()


def test_a_layer_has_another_share_of_the_mean():
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, mean = (
            os.path.join(folder, f"{name}.safetensors") for name in ("ours", "theirs", "mean")
        )
        for seed, path in enumerate((ours, theirs)):
            torch.manual_seed(seed)
            model.save_model(
                path, model.UNet(*model.ARCHITECTURES["tiny"]).state_dict(), {"trained": path}
            )
        export.main(
            [
                ours,
                mean,
                "--average",
                theirs,
                "--share",
                "0.25",
                "--share-of",
                "down2=1",
                "--share-of",
                "down2.conv2=0",
            ]
        )
        states = [model.load_model(path)[0].state_dict() for path in (ours, theirs, mean)]
        for name, (own, other, found) in {
            name: [state[name] for state in states] for name in model.inference_state(states[0])
        }.items():
            share = (
                0 if name.startswith("down2.conv2.") else 1 if name.startswith("down2.") else 0.25
            )
            assert torch.allclose(found, torch.lerp(own, other, share), atol=1e-3), name
        assert model.load_model(mean)[1]["trained"].startswith(
            "0.25, 1.0 in down2, 0.0 in down2.conv2 of "
        )
        average = ["--average", theirs, "--share-of"]
        for wrong in (
            [*average, "down20=1"],
            [*average, "down2=2"],
            [*average, "down2"],
            ["--share-of", "down2=1"],
        ):
            try:
                export.main([ours, mean, *wrong])
            except SystemExit as refused:
                assert refused.code == 2, wrong
            else:
                raise AssertionError(f"{wrong} was taken")


def test_evaluation_knows_right_from_wrong():
    people, _ = photos()

    class Bright(torch.nn.Module):
        multiple, recurrent = 8, ()

        def forward(self, x, state):
            return (x[:, :1] - 0.1) * 20

    table = evaluate.evaluate(Bright(), people, [48, 96])
    assert (
        table["96"]["all"]["miou"]
        > 0.97
        > 0.9
        > metrics.score(torch.zeros(1, 1, 8, 8), torch.ones(1, 1, 8, 8))["miou"]
    )
    assert evaluate.input_size(400, 300, 384, 32) == (384, 288)
    for inputs, outputs in ((300, 288), (288, 300), (7, 3)):
        rows = refine.resampling_matrix(inputs, outputs, CPU).sum(1)
        assert torch.allclose(rows, torch.ones(outputs).double(), atol=1e-5)


def test_errors_in_the_unknown_band():
    """As tests/unit/tools/unknown_band_test.cpp, with the same figures."""
    truth = torch.zeros(1, 1, 12, 100)
    truth[..., 50:52], truth[..., 52:] = 0.5, 1
    found = truth.clone()
    found[..., 48], found[..., 51], found[..., 10] = 0.25, 0.75, 1
    scores = metrics.score(found, truth, full=True)
    flat = metrics.score(torch.ones_like(truth), truth, full=True)
    for name, value, expected in (
        ("band_sad", scores, 12 * 0.5 / 1000),
        ("band_mse", scores, 2 * 0.0625 / 6),
        ("band_connectivity", scores, 12 * 0.5 / 1000),
        ("band_gradient", flat, 12 * 15.348038 / 1000),
        ("hair_gradient", flat, 4 * 15.348038 / 1000),
    ):
        assert abs(value[name] - expected) < 1e-6, (name, value[name], expected)
    hard = truth.round()
    assert "band_sad" not in metrics.score(hard, hard, full=True, every_band=True)
    thin = hard.clone()
    thin[..., 50] = 0.5  # a hundredth of the pixels
    rows = [metrics.score(found, thin, full=True, every_band=every) for every in (False, True)]
    assert ["band_sad" in row for row in rows] == [False, True]
    means = metrics.mean_scores([*rows, scores])
    assert means["bands"] == 2 and means["photos"] == 3
    assert abs(means["band_sad"] - (rows[1]["band_sad"] + scores["band_sad"]) / 2) < 1e-9


def test_largest_region_is_found():
    rows = ["##..#", ".#..#", ".####", ".....", "##.##"]
    mask = torch.tensor([[c == "#" for c in row] for row in rows])
    region = metrics.largest_component(mask)
    assert region[:3].equal(mask[:3]) and not region[3:].any()


def test_refinement_finds_the_edge():
    """The network's coarse matte of a disc comes nearer to the truth by the photo's edges, and
    stays as it is where there are none."""
    photo, truth = (plane[None].float() / 255 for plane in disc(96, 72, 1))
    coarse = refine.resample(truth, 24, 18)
    plain, found = refine.resample(coarse, 96, 72), refine.refine(photo, coarse)
    assert (found - truth).abs().mean() < 0.6 * (plain - truth).abs().mean()
    flat = refine.refine(torch.full_like(photo, 0.5), coarse)
    assert (flat - plain).abs().max() < 0.01


if __name__ == "__main__":
    sys.exit(run_all(globals()))
