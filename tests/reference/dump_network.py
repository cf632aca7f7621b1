#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes unet_small.safetensors and unet_small_activations.safetensors: a small U-Net with random weights and lived-in batch-norm statistics, an input, and what PyTorch computes
from it after every block, in f32; and unet_mobile.safetensors and its activations, the same of the trainer's network with an encoder of bottlenecks. The tests hold both
engines against them. Run once with Debian's python3-torch; the files are committed.

    python3 tests/reference/dump_network.py tests/data
"""
import json
import os
import struct
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inference", "training"))
from train import model  # noqa: E402

WIDTHS = (6, 10, 16, 24)
HEIGHT, WIDTH = 40, 56
MOBILE = ((6, model.mobile((3, 1, 8, 1)), model.mobile((5, 6, 12, 2)), model.mobile((3, 4, 20, 2)), 16), (6, 8, 12, 16))


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)))


class Up(Block):
    def __init__(self, inputs, outputs):
        super().__init__(2 * outputs, outputs)
        self.upconv = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)

    def forward(self, x, skip):
        return super().forward(torch.cat([skip, self.upconv(x)], 1))


class UNet(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.levels = len(widths)
        for i, width in enumerate(widths):
            setattr(self, f"down{i + 1}", Block(widths[i - 1] if i else 3, width))
        for i in range(1, self.levels):
            setattr(self, f"up{i}", Up(widths[-i], widths[-i - 1]))
        self.out = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x, blocks):
        skips = []
        for i in range(self.levels):
            x = getattr(self, f"down{i + 1}")(x)
            blocks[f"down{i + 1}"] = x
            if i + 1 < self.levels:
                skips.append(x)
                x = torch.max_pool2d(x, 2)
        for i in range(1, self.levels):
            x = getattr(self, f"up{i}")(x, skips[-i])
            blocks[f"up{i}"] = x
        blocks["out"] = torch.sigmoid(self.out(x))


def save(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def random_network(widths, seed):
    """Of the seed alone, and with batch norms that do something."""
    torch.manual_seed(seed)
    return lived_in(UNet(widths))


def lived_in(net):
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.7, 1.4)
            nn.init.uniform_(module.bias, -0.3, 0.3)
            nn.init.uniform_(module.running_mean, -0.3, 0.3)
            nn.init.uniform_(module.running_var, 0.2, 1.2)
    nn.init.uniform_(net.out.weight, -0.6, 0.6)
    net.eval()
    return net


def write(folder, name, net, image, blocks):
    weights = model.exported(net.state_dict())
    save(f"{folder}/{name}.safetensors", weights, {"architecture": "unet", "bn_eps": "1e-5"})
    # nhwc, as both engines keep their activations
    dumped = {block: value[0].permute(1, 2, 0) for block, value in {"input": image, **blocks}.items()}
    save(f"{folder}/{name}_activations.safetensors", dumped, {"torch": torch.__version__.split("+")[0]})


@torch.no_grad()
def main(folder):
    net = random_network(WIDTHS, 20)
    image, blocks = torch.randn(1, 3, HEIGHT, WIDTH), {}
    net(image, blocks)
    write(folder, "unet_small", net, image, blocks)

    torch.manual_seed(21)
    net = lived_in(model.UNet(*MOBILE))
    image, blocks = torch.randn(1, 3, 32, 48), {}
    for module in net.modules():  # so many layers without statistics of their own would make numbers of any size
        if isinstance(module, nn.BatchNorm2d):
            module.train().momentum = 1.0
    net(image)
    net.eval()
    for block, module in net.named_children():
        if block != "aux":
            module.register_forward_hook(lambda _, inputs, output, block=block: blocks.update({block: output}))
    net(image)
    blocks["out"] = torch.sigmoid(blocks["out"])
    write(folder, "unet_mobile", net, image, blocks)


if __name__ == "__main__":
    main(sys.argv[1])
