#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks with bottlenecks in the encoder, beside plain ones, in the trainer.

    /usr/bin/python3 tests/training/mobile_test.py

Exit status 77 where PyTorch is missing.
"""

import os
import sys
import tempfile

from training_support import Skipped, run_all, trainer

import torch
from torch.nn import functional as F

from train import cuda_graphs, depthwise, export, model, pretrained, train


def with_statistics(name):
    """A network with random batch-norm statistics."""
    net = model.UNet(*model.ARCHITECTURES[name])
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
    return net.eval()


def test_folding_batch_norm_changes_nothing():
    for name in ("tiny", "tiny-mobile"):
        net, picture = with_statistics(name), torch.rand(1, 3, 32, 32)
        before = net(picture)
        assert torch.allclose(model.fold_batch_norm(net)(picture), before, atol=1e-4), name


def test_a_network_of_bottlenecks_trains_and_is_read_back():
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, path = (
            os.path.join(folder, "checkpoint.pt"),
            os.path.join(folder, "mobile.safetensors"),
        )
        learner = trainer(
            "--model",
            "tiny-mobile",
            "--encoder-rate-factor",
            "0.5",
            "--stop-after",
            "2",
            out=folder,
        )
        assert {group["rate_factor"] for group in learner.optimizer.param_groups} == {0.5, 1.0}
        train.run(learner, checkpoint)
        export.main([checkpoint, path])
        net, facts = model.load_model(path)
        assert (net.encoder, net.decoder, ()) == model.ARCHITECTURES["tiny-mobile"] and facts[
            "widths"
        ] == "4 6 8 8"
        for name, value in model.inference_state(net.state_dict()).items():
            assert torch.equal(value, learner.ema.state_dict()[name].half().float()), name


def test_channels_that_vary_too_much_for_half_precision_are_written_smaller():
    net = model.UNet(*model.ARCHITECTURES["tiny-mobile"]).eval()
    picture = torch.rand(1, 3, 16, 16)
    before = net(picture)
    with torch.no_grad():  # the same function, of channels that vary 2^10 times as much
        for conv, norm in (
            (net.up1.conv1, net.up1.bn1),
            (net.down3.block1.conv1, net.down3.block1.bn1),
        ):
            conv.weight *= 1024
            norm.running_mean *= 1024
            norm.running_var *= 1024**2
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "varied.safetensors")
        model.save_model(path, net.state_dict(), {})
        assert torch.allclose(model.load_model(path)[0](picture), before, atol=0.02)
        net.out.weight.data[0] = 1e6
        try:
            model.save_model(path, net.state_dict(), {})
            raise AssertionError("a model file of infinite numbers was written")
        except ValueError as error:
            assert "out.weight" in str(error)


def test_models_keep_their_bounds():
    for name, megabytes in (("portrait", 16.5), ("portrait-lite", 2.1)):
        weights = sum(
            v.numel()
            for v in model.inference_state(
                model.UNet(*model.ARCHITECTURES[name]).state_dict()
            ).values()
        )
        assert 2 * weights / 1e6 < megabytes, name
    lite = model.UNet(*model.ARCHITECTURES["portrait-lite"])
    assert model.gflops(lite, 224, 384) < 2.2


def test_depthwise_convolutions_are_pytorchs():
    """PyTorch's kernels, and ours on a GPU or in Triton's interpreter (TRITON_INTERPRET=1)."""
    gpu = torch.cuda.is_available()
    depthwise.PROGRAMS = 8  # so that each has pixels for more than one turn of its loop
    kinds = [depthwise.PyTorchDepthwise]
    if depthwise.triton and (gpu or os.environ.get("TRITON_INTERPRET") == "1"):
        kinds.append(depthwise.TritonDepthwise)
    else:
        print("skipped: our kernels, which want Triton and a GPU, or TRITON_INTERPRET=1")
    for side, stride, channels, height, width in (
        (3, 1, 6, 12, 10),
        (3, 2, 40, 7, 9),
        (5, 1, 33, 9, 6),
        (5, 2, 16, 8, 11),
        (5, 1, 4, 2, 2),
    ):
        conv = torch.nn.Conv2d(
            channels, channels, side, stride=stride, padding=side // 2, groups=channels, bias=False
        )
        x = torch.randn(3, channels, height, width, requires_grad=True)
        theirs = conv(x)
        slope = torch.randn_like(theirs)
        expected = (theirs, *torch.autograd.grad(theirs, (x, conv.weight), slope))
        for kind in kinds:
            place = torch.device("cuda" if gpu else "cpu")
            there, weight = (t.detach().to(place).requires_grad_() for t in (x, conv.weight))
            ours = kind.apply(there, weight, stride)
            found = (ours, *torch.autograd.grad(ours, (there, weight), slope.to(place)))
            for a, b, apart in zip(
                found, expected, (1e-6, 1e-6, 1e-4)
            ):  # the last are sums over all pixels
                assert a.shape == b.shape and torch.allclose(a.cpu(), b, atol=apart), (
                    kind,
                    side,
                    stride,
                )


def efficientnet_lite(net):
    """Random weights for the encoder of `net`, under the names of the packages."""
    theirs = {}

    def add(conv, norm, ours, bn):
        theirs[f"{conv}.weight"] = torch.randn_like(ours.weight)
        for part in pretrained.NORM_TENSORS:
            theirs[f"{norm}.{part}"] = torch.rand_like(getattr(bn, part)) + 0.5

    add("_conv_stem", "_bn0", net.down2.conv1, net.down2.bn1)
    blocks = [module for module in net.modules() if isinstance(module, model.Bottleneck)]
    for i, block in enumerate(blocks):
        for number, (conv, norm) in enumerate(
            (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")), 1
        ):
            if hasattr(block, f"conv{number}"):
                add(
                    f"_blocks.{i}.{conv}",
                    f"_blocks.{i}.{norm}",
                    getattr(block, f"conv{number}"),
                    getattr(block, f"bn{number}"),
                )
    theirs["_fc.weight"] = torch.rand(3, 8)
    return theirs


def test_replayed_steps_learn_what_launched_ones_do():
    """Several shapes in turn, and batch norm before and after it is frozen: the same losses,
    gradients and statistics."""
    learners = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            learners.append(trainer("--model", "tiny-mobile", out=folder))
        for block in learners[-1].net.modules():
            if isinstance(block, model.Bottleneck):
                block.drop_rate = 0.0  # at random, and not the same in both
    launched, replayed = learners
    device = launched.dist.device
    if device.type != "cuda":
        raise Skipped("CUDA graphs want a GPU")
    weights = torch.rand(len(train.LOSSES), device=device) + 0.5
    for i in range(12):
        n, height, width = ((5, 32, 48), (6, 48, 32), (5, 32, 32))[i % 3]
        scenes = [torch.rand(n, c, height, width, device=device) for c in (3, 1)]
        scenes += [torch.rand(n, device=device) < 0.5, torch.rand(2, 2, device=device) * 4 - 2]
        found = []
        for learner, learn in (
            (launched, launched.forward_backward),
            (
                replayed,
                lambda *scenes: replayed.graphed_forward_backward(
                    *scenes, variant=replayed.batch_norm_frozen
                ),
            ),
        ):
            if i == 6:
                learner.batch_norm_frozen = True
                for norm in learner.norms:
                    norm.eval()
            learner.gradients.zero_()
            terms = learn(*scenes, weights)
            found.append(
                (
                    terms,
                    learner.gradients.clone(),
                    torch.cat([norm.running_var for norm in learner.norms]),
                )
            )
        for one, other in zip(*found):
            assert torch.allclose(one, other, rtol=0.02, atol=0.02 * float(one.abs().max())), (
                i,
                one,
                other,
            )
        assert found[0][1].norm() > 0
    assert len(replayed.graphed_forward_backward.graphs) == 6, (
        "the second meeting of a shape is replayed"
    )
    kept = cuda_graphs.GraphedFunction(lambda x: x + 1)
    counts = [kept(torch.full((3,), float(i), device=device)).tolist() for i in range(5)]
    assert counts == [[i + 1.0] * 3 for i in range(5)]


def test_pretrained_weights_are_taken_over():
    with tempfile.TemporaryDirectory() as folder:
        weights, path = os.path.join(folder, "lite.pth"), os.path.join(folder, "first.safetensors")
        theirs = efficientnet_lite(model.UNet(*model.ARCHITECTURES["tiny-mobile"]))
        torch.save(theirs, weights)
        pretrained.main([weights, "tiny-mobile", path])
        net = model.load_model(path)[0]
        rgb = torch.rand(1, 3, 16, 16)
        picture = F.conv2d(
            (rgb * 255 - 127) / 128, theirs["_conv_stem.weight"], stride=2, padding=1
        )
        mean, variance, scale, shift = (
            theirs[f"_bn0.{part}"].view(1, -1, 1, 1)
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        expected = F.relu(
            (picture - mean) / torch.sqrt(variance + pretrained.SOURCE_BN_EPS) * scale + shift
        )
        found = F.relu(net.down2.bn1(net.down2.conv1(model.normalise(rgb))))
        inner = (
            slice(None),
            slice(None),
            slice(1, None),
            slice(1, None),
        )  # at the edge a zero is another colour there
        assert torch.allclose(found[inner], expected[inner], atol=0.05), (
            (found - expected).abs().max()
        )
        assert torch.allclose(
            net.down3.block2.conv3.weight, theirs["_blocks.2._project_conv.weight"].half().float()
        )


if __name__ == "__main__":
    sys.exit(run_all(globals()))
