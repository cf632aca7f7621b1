#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference values, calculated by PyTorch in f32, for the tests of the baselines and for
`matte-cli lab network --dump FOLDER`.

    python3 tests/reference/dump_baselines.py tests/data
    python3 tests/reference/dump_baselines.py FOLDER --course

The first writes values of the operations, and a small network of five levels; the second the
course's network of 64 to 1024 channels at 512x512, 230 MB. The files in tests/data are committed;
Debian's python3-torch made them.
"""

import sys

import torch
from torch.nn import functional as F

from dump_network import random_network, save


def same_padding(size, kernel, stride, dilation):
    """Padding 'same' as in TensorFlow: an odd pixel goes behind."""
    total = max((-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def conv_same(x, weight, bias, stride, dilation):
    top, bottom = same_padding(x.shape[2], weight.shape[2], stride, dilation)
    left, right = same_padding(x.shape[3], weight.shape[3], stride, dilation)
    return F.conv2d(
        F.pad(x, (left, right, top, bottom)), weight, bias, stride=stride, dilation=dilation
    )


def operations():
    torch.manual_seed(60)
    x = torch.randn(2, 3, 11, 14)
    weight, bias = torch.randn(4, 3, 3, 5), torch.randn(4)
    dumped = {"in": x, "weight": weight, "bias": bias}
    for name, padding, stride, dilation in (
        ("plain", (0, 0), (1, 1), (1, 1)),
        ("padded", (1, 2), (1, 1), (1, 1)),
        ("strided", (0, 0), (2, 3), (1, 1)),
        ("dilated", (0, 0), (1, 1), (3, 2)),
        ("everything", (2, 1), (2, 1), (2, 3)),
    ):
        dumped[f"conv_{name}"] = F.conv2d(x, weight, bias, stride, padding, dilation)
    for stride, dilation in ((1, 1), (2, 1), (3, 1), (1, 2)):
        dumped[f"conv_same_{stride}_{dilation}"] = conv_same(x, weight, bias, stride, dilation)
    # Where PyTorch has the rule itself, the two agree.
    assert torch.allclose(
        dumped["conv_same_1_2"], F.conv2d(x, weight, bias, padding="same", dilation=2), atol=1e-5
    )
    dumped["max_pool"] = F.max_pool2d(x, (2, 3), stride=(2, 1))
    dumped["max_pool_padded"] = F.max_pool2d(x, 3, stride=2, padding=1, dilation=2)
    dumped["average_pool"] = F.avg_pool2d(x, 3, stride=2, padding=1)
    dumped["average_pool_inside"] = F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)
    dumped["global_average_pool"] = F.adaptive_avg_pool2d(x, 1)
    dumped["relu"] = torch.relu(x)
    dumped["leaky_relu"] = F.leaky_relu(x, 0.1)
    dumped["sigmoid"] = torch.sigmoid(x)
    dumped["tanh"] = torch.tanh(x)
    dumped["elu"] = F.elu(x, 0.7)
    dumped["maxout"] = x.repeat(1, 2, 1, 1).view(2, 2, 3, 11, 14).amax(2)
    dense, dense_bias = torch.randn(7, 3 * 11 * 14) * 0.1, torch.randn(7)
    dumped |= {
        "dense_weight": dense,
        "dense_bias": dense_bias,
        "dense": F.linear(x.flatten(1), dense, dense_bias),
    }
    dumped["dense_maxout"] = (
        dumped["dense"][:, :6].view(2, 3, 2).amax(2)
    )  # max(w1 x + b1, w2 x + b2)
    dumped["softmax"] = (dumped["dense"] * 30).softmax(1)
    dumped["nhwc"] = x.permute(0, 2, 3, 1)
    return dumped


def network(widths, height, width, seed):
    net = random_network(widths, seed)
    image, blocks = torch.randn(1, 3, height, width), {}
    with torch.no_grad():
        net(image, blocks)
    return net, {"input": image, **blocks}


def main(folder, course):
    about = {"torch": torch.__version__.split("+")[0]}
    if not course:
        save(f"{folder}/operations.safetensors", operations(), about)
    name, shape = (
        ("unet_course", ((64, 128, 256, 512, 1024), 512, 512))
        if course
        else ("unet_five", ((6, 8, 12, 16, 20), 32, 48))
    )
    net, dumped = network(*shape, 61)
    weights = {k: v for k, v in net.state_dict().items() if not k.endswith("num_batches_tracked")}
    save(f"{folder}/{name}.safetensors", weights, {"architecture": "unet", "bn_eps": "1e-5"})
    # From down5 on, as the lab compares; nhwc, as both engines keep their activations.
    kept = {
        k: v[0].permute(1, 2, 0)
        for k, v in dumped.items()
        if not k.startswith("down") or k == "down5"
    }
    save(f"{folder}/{name}_activations.safetensors", kept, about)


if __name__ == "__main__":
    main(sys.argv[1], "--course" in sys.argv)
