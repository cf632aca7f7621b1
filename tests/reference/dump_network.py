#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference values for the tests of both engines, calculated by PyTorch in f32: networks
with random weights and batch-norm statistics, an input, and the output of every block.

    python3 tests/reference/dump_network.py tests/data

unet_small is a small plain U-Net, written here once more; unet_mobile is the trainer's network with
an encoder of bottlenecks. Run once with Debian's python3-torch; the files are committed.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "inference" / "training"))

from train import model, safetensors_file

WIDTHS = (6, 10, 16, 24)
HEIGHT, WIDTH = 40, 56
MOBILE = (
    (
        6,
        model.bottlenecks((3, 1, 8, 1)),
        model.bottlenecks((5, 6, 12, 2)),
        model.bottlenecks((3, 4, 20, 2)),
        16,
    ),
    (6, 8, 12, 16),
)


class Block(nn.Module):
    """Two 3x3 convolutions with batch norm and ReLU."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)))


class Up(Block):
    """A level of the decoder."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(2 * outputs, outputs)
        self.upconv = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        return super().forward(torch.cat([skip, self.upconv(x)], 1))


class UNet(nn.Module):
    """A plain U-Net; forward() fills `blocks` with the output of every block."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.levels = len(widths)
        for i, width in enumerate(widths):
            setattr(self, f"down{i + 1}", Block(widths[i - 1] if i else 3, width))
        for i in range(1, self.levels):
            setattr(self, f"up{i}", Up(widths[-i], widths[-i - 1]))
        self.out = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x: Tensor, blocks: dict[str, Tensor]) -> None:
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


def save(path: str, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Writes tensors in single precision."""
    entries = [safetensors_file.tensor_entry(name, tensor) for name, tensor in tensors.items()]
    safetensors_file.write_tensors(path, entries, metadata)


def random_network(widths: tuple[int, ...], seed: int) -> UNet:
    """A network of the seed alone."""
    torch.manual_seed(seed)
    return randomise(UNet(widths))


def randomise(net: nn.Module) -> nn.Module:
    """Gives batch norms random statistics, and the last layer larger weights."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.7, 1.4)
            nn.init.uniform_(module.bias, -0.3, 0.3)
            nn.init.uniform_(module.running_mean, -0.3, 0.3)
            nn.init.uniform_(module.running_var, 0.2, 1.2)
    nn.init.uniform_(net.out.weight, -0.6, 0.6)
    net.eval()
    return net


def write(folder: str, name: str, net: nn.Module, image: Tensor, blocks: dict[str, Tensor]) -> None:
    """Writes a network and its activations in NHWC, as both engines keep them."""
    weights = model.inference_state(net.state_dict())
    save(f"{folder}/{name}.safetensors", weights, {"architecture": "unet", "bn_eps": "1e-5"})
    activations = {
        block: value[0].permute(1, 2, 0) for block, value in {"input": image, **blocks}.items()
    }
    about = {"torch": torch.__version__.split("+")[0]}
    save(f"{folder}/{name}_activations.safetensors", activations, about)


@torch.no_grad()
def main(folder: str) -> None:
    """Writes both networks."""
    net = random_network(WIDTHS, 20)
    image, blocks = torch.randn(1, 3, HEIGHT, WIDTH), {}
    net(image, blocks)
    write(folder, "unet_small", net, image, blocks)

    torch.manual_seed(21)
    net = randomise(model.UNet(*MOBILE))
    image, blocks = torch.randn(1, 3, 32, 48), {}
    # So many layers without statistics of their own would make values of any size.
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.train().momentum = 1.0
    net(image)
    net.eval()
    for block, module in net.named_children():
        if block != "aux":
            module.register_forward_hook(
                lambda _, inputs, output, block=block: blocks.update({block: output})
            )
    net(image)
    blocks["out"] = torch.sigmoid(blocks["out"])
    write(folder, "unet_mobile", net, image, blocks)


if __name__ == "__main__":
    main(sys.argv[1])
