#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a matting network on packed photos for a number of minutes. A later run can go on from its
checkpoint. README.md has the commands.

The schedule (learning rate, augmentation strength) spans --total-minutes of training; a run stops
after its own --minutes. With --steps the schedule counts steps instead of minutes: a seed then sees
the same scenes on any machine.

With --gpus every process trains on its own GPU and gradients are averaged. With
--independent-replicas they are not: each process trains a replica, from the same weights but on
scenes of its own, and the result is the mean of their weights (after Gupta et al., "Stochastic
Weight Averaging in Parallel", 2020). How far the scores of the replicas differ tells the effect of
chance.
"""

import math
import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, evaluate, model, schedule
from train.command_line import Parser
from train.distributed import Distributed, launch
from train.trainer import LOSSES, Trainer

RENAMED_FLAGS = {
    "--repeatable": "--deterministic",
    "--rate": "--learning-rate",
    "--encoder-rate": "--encoder-rate-factor",
    "--decay": "--weight-decay",
    "--apart": "--independent-replicas",
    "--scores": "--evaluate",
    "--favour": "--prefer-size",
    "--scale": "--size-scale",
}


def make_parser(doc: str | None = __doc__) -> Parser:
    """The parser of this script's arguments."""
    parser = Parser(doc, RENAMED_FLAGS)
    add = parser.add_argument
    add("data", help="folder of packs")
    add("--model", default="portrait", choices=model.ARCHITECTURES)
    add("--out", default="run", help="folder for checkpoint.pt")
    add("--minutes", type=float, help="of this run; default: 8, and without limit with --steps")
    add("--total-minutes", type=float, help="length of the whole schedule; default: --minutes")
    add("--steps", type=int, help="length of the schedule in steps, instead of minutes")
    add("--stop-after", type=int, help="stop this run at this step of the schedule")
    add("--elapsed", type=float, default=0, help="minutes or steps of the schedule before --init")
    add("--init", help="a model file to start from instead of random weights")
    add("--teacher", help="a model file whose mattes, of scenes in good light, are targets too")
    add("--seed", type=int, default=1)
    add("--megapixels", type=float, default=5.0, help="pixels of a batch on each GPU")
    add("--learning-rate", type=float, default=2e-3, help="its peak")
    add("--encoder-rate-factor", type=float, default=1.0, help="for what pretrained.py took over")
    add("--weight-decay", type=float, default=0.04, help="as in AdamW")
    add(
        "--prefer-size", type=int, choices=schedule.SIZES, help="longest side of half of all frames"
    )
    add("--size-scale", type=float, default=1.0, help="multiplies the sizes of frames")
    add("--gpus", type=int, default=1, help="processes that train together, each on its own GPU")
    add("--independent-replicas", action="store_true", help="average weights, not gradients")
    add("--deterministic", action="store_true", help="only deterministic convolutions of cuDNN")
    add("--evaluate", action="store_true", help="score the result on the photos for selection")
    return parser


def parse_arguments(argv: Sequence[str] | None = None, parser: Parser | None = None) -> Namespace:
    """The arguments of this script, by `parser` or its own."""
    args = (parser or make_parser()).parse_args(argv)
    if args.minutes is None:
        args.minutes = math.inf if args.steps else 8.0
    return args


class Progress:
    """The losses and the speed of training since the last report."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer, self.began, self.reported = trainer, time.time(), 0.0
        self.steps, self.sums = 0, 0

    def add(self, terms: Tensor) -> None:
        """Adds the losses of a step."""
        self.sums = self.sums + terms
        self.steps += 1

    def report(self) -> None:
        """Prints the means, every twenty seconds."""
        if time.time() - self.reported <= 20:
            return
        trainer = self.trainer
        means = (f"{n} {float(v) / self.steps:.4f}" for n, v in zip(LOSSES, self.sums))
        pictures = self.steps * trainer.pixels / (320 * 240) * trainer.dist.world_size
        speed = pictures / max(1e-6, time.time() - (self.reported or self.began))
        trainer.dist.log(
            f"{trainer.minutes:6.2f} min step {trainer.step} {speed:.0f} pictures/s (of 320x240) "
            f"rate {trainer.learning_rate():.2e}",
            *means,
        )
        self.steps, self.sums, self.reported = 0, 0, time.time()


def run(trainer: Trainer, checkpoint: str) -> None:
    """Trains until this run's minutes or steps are over; saves every minute and at the end."""
    args, dist = trainer.args, trainer.dist
    began, minutes_before, saved = time.time(), trainer.minutes, time.time()
    progress = Progress(trainer)
    while trainer.progress() < 1 and not (args.stop_after and trainer.step >= args.stop_after):
        try:
            terms = trainer.train_step()
        except torch.cuda.OutOfMemoryError:
            if dist.world_size > 1 and not dist.independent:
                raise  # the others wait in a collective operation: only the last checkpoint is left
            trainer.pixels *= 0.7
            trainer.reset_graphs()
            torch.cuda.empty_cache()
            dist.log(f"out of memory: going on with {trainer.pixels / 1e6:.1f} megapixels a batch")
            continue
        progress.add(terms)
        if trainer.step % 20:
            continue
        trainer.minutes = minutes_before + dist.broadcast((time.time() - began) / 60)
        if trainer.minutes - minutes_before >= args.minutes:
            break
        progress.report()
        if dist.saves_checkpoints and time.time() - saved > 60:
            trainer.save(checkpoint)
            saved = time.time()
    if dist.saves_checkpoints:
        trainer.save(checkpoint)
    dist.log(
        f"trained to minute {trainer.minutes:.2f}, step {trainer.step}, "
        f"in this run {(time.time() - began) / 60:.2f} min"
    )


def finish(trainer: Trainer, validation: data.PhotoSet | None, result: str) -> None:
    """Averages replicas, and scores the result on the photos for selection, if wanted."""
    args, dist = trainer.args, trainer.dist
    scored = args.evaluate and validation
    if scored:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if dist.independent:
        if scored:
            table = evaluate.evaluate(trainer.ema, validation, evaluate.SIZES[:2])
            evaluate.print_table(f"replica {dist.rank}", table)
        trainer.average_replicas()
        if dist.rank == 0:
            trainer.save(result)
    if scored:
        sizes = evaluate.SIZES[dist.rank :: dist.world_size]
        evaluate.print_table(args.model, evaluate.evaluate(trainer.ema, validation, sizes))


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    args = parse_arguments(argv)
    if args.gpus > 1 and "RANK" not in os.environ:
        raise SystemExit(launch(args.gpus))
    dist = Distributed(args.independent_replicas)
    # cuDNN's heuristics, not its trials: each of dozens of frame sizes would cost seconds of
    # trials.
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = args.deterministic
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    began = time.time()
    packs = data.load_packs(args.data, dist.device)
    clips = len(packs.clips) if packs.clips else 0
    dist.log(
        f"{len(packs.people)} photos of people, {len(packs.backgrounds)} of rooms, "
        f"{clips} frames of clips, loaded in {time.time() - began:.1f} s"
    )
    trainer = Trainer(args, dist, packs)
    os.makedirs(args.out, exist_ok=True)
    result = os.path.join(args.out, "checkpoint.pt")
    checkpoint = result
    if dist.independent:
        checkpoint = os.path.join(args.out, f"replica-{dist.rank}.pt")
    if os.path.exists(checkpoint):
        trainer.resume(checkpoint)
        dist.log(f"going on from {checkpoint}: minute {trainer.minutes:.2f}, step {trainer.step}")
    run(trainer, checkpoint)
    finish(trainer, packs.selection, result)
    dist.close()


if __name__ == "__main__":
    main()
