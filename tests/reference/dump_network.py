#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes unet_small.safetensors and unet_small_activations.safetensors: a small U-Net with random weights and lived-in batch-norm statistics, an input, and what PyTorch computes
from it after every block, in f32. The tests hold both engines against it. Run once with Debian's python3-torch; the file is committed.

    python3 tests/reference/dump_network.py tests/data
"""
import json
import struct
import sys

import torch
from torch import nn

WIDTHS = (6, 10, 16, 24)
HEIGHT, WIDTH = 40, 56


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
    net = UNet(widths)
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.7, 1.4)
            nn.init.uniform_(module.bias, -0.3, 0.3)
            nn.init.uniform_(module.running_mean, -0.3, 0.3)
            nn.init.uniform_(module.running_var, 0.2, 1.2)
    nn.init.uniform_(net.out.weight, -0.6, 0.6)
    net.eval()
    return net


def main(folder):
    net = random_network(WIDTHS, 20)
    image = torch.randn(1, 3, HEIGHT, WIDTH)
    blocks = {}
    with torch.no_grad():
        net(image, blocks)
    weights = {k: v for k, v in net.state_dict().items() if not k.endswith("num_batches_tracked")}
    save(f"{folder}/unet_small.safetensors", weights, {"architecture": "unet", "bn_eps": "1e-5"})
    # nhwc, as both engines keep their activations
    dumped = {name: value[0].permute(1, 2, 0) for name, value in {"input": image, **blocks}.items()}
    save(f"{folder}/unet_small_activations.safetensors", dumped, {"torch": torch.__version__.split("+")[0]})


if __name__ == "__main__":
    main(sys.argv[1])
