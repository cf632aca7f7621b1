#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a training step's time goes, by longest side of the frames: milliseconds of the middle one of several steps. Takes train.py's arguments and --repeats.

    python3 step_times.py DATA --model portrait-lite --teacher portrait.safetensors --megapixels 6 --repeats 7

Each part is waited for, so that together they take longer than a step does: launching is part of them. `all` is a step as train.py takes it.
"""
import argparse
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from augment import scene
from train import data, schedule, train
from train.distributed import Team

PARTS = ("scenes", "lesson", "batch", "learn", "all")


def milliseconds(device, work):
    """(what `work` returns, how long it took)."""

    def finish():
        if device.type == "cuda":
            torch.cuda.synchronize()

    finish()
    began = time.perf_counter()
    result = work()
    finish()
    return result, 1000 * (time.perf_counter() - began)


def parts(trainer):
    """One step's times by PARTS: composing scenes, the teacher's mattes of them, the whole batch with both of these, and the gradient of its losses."""
    device, strength = trainer.team.device, schedule.strength(trainer.progress())
    weights = scene.there(torch.tensor(list(schedule.loss_weights(trainer.progress()).values())), device)
    count, _, height, width = trainer.frame()
    (image, *_), composed = milliseconds(device, lambda: scene.compose(trainer.people, trainer.backgrounds, count, (height, width), trainer.random, strength))
    lesson = milliseconds(device, lambda: trainer.lesson(image))[1] if trainer.teacher else 0.0
    batch, gathered = milliseconds(device, trainer.batch)
    learnt = milliseconds(device, lambda: trainer.learn(*batch, weights, state=trainer.settled))[1]
    whole = milliseconds(device, trainer.train_step)[1]
    return dict(zip(PARTS, (composed, lesson, gathered, learnt, whole)))


def table(trainer, repeats):
    """{longest side: times by PARTS}, medians over `repeats` steps after three that plan, compile and capture."""
    drawn, result = trainer.frame, {}
    for size in schedule.SIZES:
        side = max(1, round(size * trainer.args.scale / trainer.multiple)) * trainer.multiple
        pictures = max(5, int(trainer.pixels / (side * side)))
        trainer.frame = lambda: (pictures - 1, 1, side, side)
        for _ in range(3):
            parts(trainer)
        steps = [parts(trainer) for _ in range(repeats)]
        result[size] = {part: statistics.median(step[part] for step in steps) for part in PARTS}
        trainer.forget()
    trainer.frame = drawn
    return result


def main(argv=None):
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--repeats", type=int, default=7)
    own, rest = parser.parse_known_args(argv)
    args, team = train.parse(rest), Team()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    people, backgrounds, _ = data.load(args.data, team.device)
    print("side " + " ".join(f"{part:>7}" for part in PARTS))
    for size, times in table(train.Trainer(args, team, people, backgrounds), own.repeats).items():
        print(f"{size:4d} " + " ".join(f"{times[part]:7.1f}" for part in PARTS), flush=True)


if __name__ == "__main__":
    main()
