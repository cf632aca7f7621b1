# SPDX-License-Identifier: Apache-2.0
"""Random parameters of scenes. They come from a CPU generator, so that a seed gives the same scenes
and nothing waits for the accelerator."""

import copy

import torch
from torch import Tensor


def to_device(values: Tensor, device: torch.device | str) -> Tensor:
    """Copies a small CPU tensor to `device` without waiting for the work queued there."""
    return values.to(device, non_blocking=True)


class RandomGenerator:
    """Random vectors from one CPU generator, copied to `device`.

    A batch holds sequences of `frames` pictures, one sequence after the other: the n values of a
    vector are n / frames, each repeated for all frames of a sequence, so that whatever is drawn is
    the same in all of them. `each_frame` draws anew for each frame."""

    def __init__(self, seed: int, device: torch.device | str, frames: int = 1) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.device, self.frames = device, frames

    @property
    def each_frame(self) -> "RandomGenerator":
        """The same generator, for values of each frame alone."""
        other = copy.copy(self)
        other.frames = 1
        return other

    def sequences(self, n: int) -> int:
        """How many sequences n pictures are."""
        return n // self.frames

    def repeated(self, values: Tensor) -> Tensor:
        """Values of sequences, repeated for each frame."""
        if self.frames == 1:
            return values
        return values.unsqueeze(1).expand(-1, self.frames, *values.shape[1:]).flatten(0, 1)

    def of_first_frame(self, values: Tensor) -> Tensor:
        """The values [n, ...] of each sequence's first frame, for all of its frames."""
        return self.repeated(values[:: self.frames])

    def uniform(self, low: float, high: float, n: int, *shape: int) -> Tensor:
        """Uniform values in [low, high), [n, *shape]."""
        values = torch.rand(self.sequences(n), *shape, generator=self.generator)
        return to_device(self.repeated(values * (high - low) + low), self.device)

    def normal(self, std: float, n: int, *shape: int) -> Tensor:
        """Normal values with mean 0, [n, *shape]."""
        values = torch.randn(self.sequences(n), *shape, generator=self.generator) * std
        return to_device(self.repeated(values), self.device)

    def bernoulli(self, probability: float, n: int) -> Tensor:
        """bool [n]."""
        return self.uniform(0, 1, n) < probability

    def subset(self, probability: float, n: int) -> Tensor:
        """Indices of a random subset of range(n), each sequence with `probability`, its frames in
        order."""
        sequences = self.sequences(n)
        count = int((torch.rand(sequences, generator=self.generator) < probability).sum())
        chosen = torch.randperm(sequences, generator=self.generator)[:count].view(-1, 1)
        frames = chosen * self.frames + torch.arange(self.frames)
        return to_device(frames.flatten(), self.device)

    def half(self, n: int) -> int:
        """The size of half of n pictures, in whole sequences."""
        return self.sequences(n) // 2 * self.frames

    def scalar(self, low: float, high: float) -> float:
        """One uniform number in [low, high)."""
        return low + (high - low) * float(torch.rand(1, generator=self.generator))

    def multinomial(self, weights: Tensor, n: int) -> Tensor:
        """n indices, on the CPU, drawn with replacement in proportion to `weights`."""
        drawn = torch.multinomial(
            weights, self.sequences(n), replacement=True, generator=self.generator
        )
        return self.repeated(drawn)

    def choice(self, values: Tensor, n: int) -> Tensor:
        """n of `values`, on the CPU, drawn uniformly with replacement."""
        drawn = torch.randint(len(values), (self.sequences(n),), generator=self.generator)
        return self.repeated(values[drawn])

    def sign(self, n: int) -> Tensor:
        """-1 or 1, float [n]."""
        return 1 - 2 * self.bernoulli(0.5, n).float()


def per_image(values: Tensor) -> Tensor:
    """[n] -> [n, 1, 1, 1]."""
    return values.view(-1, 1, 1, 1)
