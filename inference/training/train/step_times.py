#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the parts of a training step by longest side of the frames: medians of several steps in
milliseconds. Takes the arguments of train.py, and --repeats.

    python3 inference/training/train/step_times.py DATA --model portrait-lite \\
        --teacher portrait.safetensors --megapixels 6 --repeats 7

batch is the scenes with the teacher's mattes, gradient that of the losses, step a step as train.py
takes it. The GPU is waited for after each part, so that the parts together take longer than a step.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, schedule, train
from train.distributed import Distributed
from train.trainer import Trainer

PARTS = ("batch", "gradient", "step")


def milliseconds(device: torch.device, function: Callable[[], Any]) -> tuple[Any, float]:
    """The result of `function`, and how long it took on `device`."""

    def synchronise() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    synchronise()
    began = time.perf_counter()
    result = function()
    synchronise()
    return result, 1000 * (time.perf_counter() - began)


def time_parts(trainer: Trainer) -> dict[str, float]:
    """Milliseconds of one step by PARTS."""
    device, weights, times = trainer.dist.device, trainer.loss_weights(), {}

    def gradient() -> torch.Tensor:
        return trainer.graphed_forward_backward(
            *batch, weights, static=(frames,), variant=trainer.batch_norm_frozen
        )

    (*batch, frames), times["batch"] = milliseconds(device, trainer.sample_batch)
    times["gradient"] = milliseconds(device, gradient)[1]
    times["step"] = milliseconds(device, trainer.train_step)[1]
    return times


def time_sizes(trainer: Trainer, repeats: int) -> dict[int, dict[str, float]]:
    """Milliseconds by longest side and by PARTS: medians over `repeats` steps, after three that
    plan, compile and capture."""
    sample_batch_shape, result = trainer.sample_batch_shape, {}
    for size in schedule.SIZES:
        side = max(1, round(size * trainer.args.size_scale / trainer.multiple)) * trainer.multiple
        frames = schedule.sequence_frames(size)
        shape = (max(2, int(trainer.pixels / (side * side * frames))), frames, side, side)
        trainer.sample_batch_shape = lambda shape=shape: shape
        for _ in range(3):
            time_parts(trainer)
        steps = [time_parts(trainer) for _ in range(repeats)]
        result[size] = {part: statistics.median(step[part] for step in steps) for part in PARTS}
        trainer.reset_graphs()
    trainer.sample_batch_shape = sample_batch_shape
    return result


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = train.make_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="steps that are measured")
    args = train.parse_arguments(argv, parser)
    dist = Distributed()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    packs = data.load_packs(args.data, dist.device)
    trainer = Trainer(args, dist, packs)
    print("side " + " ".join(f"{part:>8}" for part in PARTS))
    for size, times in time_sizes(trainer, args.repeats).items():
        print(f"{size:4d} " + " ".join(f"{times[part]:8.1f}" for part in PARTS), flush=True)


if __name__ == "__main__":
    main()
