#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference values of a small U-Net with a ConvGRU cell in two levels of its decoder: 16
frames of a moving picture and the mattes and final states, calculated by PyTorch in f32.

    python3 tests/reference/dump_recurrent.py tests/data

The cell is written here once more, as inference/model/unet.h describes it. Run once with Debian's
python3-torch; the files are committed.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parent))

import dump_network

WIDTHS = (4, 6, 8, 12)
LEVELS = ("up1", "up3")
FRAMES, HEIGHT, WIDTH = 16, 16, 24


class ConvGru(nn.Module):
    """The cell on the second half of a level's channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gates = nn.Conv2d(channels, channels, 3, padding=1)
        self.candidate = nn.Conv2d(channels, channels // 2, 3, padding=1)

    def forward(self, x: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor]:
        passed, seen = x.chunk(2, 1)
        if state is None:
            state = torch.zeros_like(seen)
        reset, update = torch.sigmoid(self.gates(torch.cat([seen, state], 1))).chunk(2, 1)
        candidate = torch.tanh(self.candidate(torch.cat([seen, reset * state], 1)))
        state = (1 - update) * state + update * candidate
        return torch.cat([passed, seen + state], 1), state


class RecurrentUp(dump_network.Up):
    """A level of the decoder that ends in a cell, whose state it keeps."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.gru = ConvGru(outputs)
        self.state: Tensor | None = None

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        x, self.state = self.gru(super().forward(x, skip), self.state)
        return x


@torch.no_grad()
def main(folder: str) -> None:
    """Writes the network and its frames."""
    net = dump_network.random_network(WIDTHS, 22)
    for level in LEVELS:
        outputs = getattr(net, level).conv2.out_channels
        up = RecurrentUp(getattr(net, level).upconv.in_channels, outputs)
        setattr(net, level, up)
    dump_network.randomise(net)
    # The state is to matter, more than it does with such weights.
    for name, values in net.named_parameters():
        if ".gru." in name or name == "out.weight":
            values.uniform_(-0.5, 0.5)
    # A picture that moves by one pixel a frame, and its noise.
    scene = torch.randn(1, 3, HEIGHT, WIDTH + FRAMES)
    frames, mattes = [], []
    for number in range(FRAMES):
        noise = 0.1 * torch.randn(1, 3, HEIGHT, WIDTH)
        frame = scene[..., number : number + WIDTH] + noise
        blocks: dict[str, Tensor] = {}
        net(frame, blocks)
        frames.append(frame[0].permute(1, 2, 0))
        mattes.append(blocks["out"][0, 0])
    tensors = {"frames": torch.stack(frames), "mattes": torch.stack(mattes)}
    for level in LEVELS:
        tensors[f"{level}.gru.state"] = getattr(net, level).state[0].permute(1, 2, 0)
    weights = dump_network.model.inference_state(net.state_dict())
    name = f"{folder}/unet_recurrent"
    dump_network.save(f"{name}.safetensors", weights, {"architecture": "unet", "bn_eps": "1e-5"})
    about = {"torch": torch.__version__.split("+")[0]}
    dump_network.save(f"{name}_frames.safetensors", tensors, about)


if __name__ == "__main__":
    main(sys.argv[1])
