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

import contextlib
import copy
import itertools
import math
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from augment import camera, distractors, scene, style
from train import data, evaluate, losses, model, pretrained, schedule
from train.command_line import Parser
from train.cuda_graphs import GraphedFunction
from train.distributed import Distributed, launch

BN_MOMENTUM = 0.01  # statistics of about a hundred batches, so of every size of frame
MAX_GRADIENT_NORM = 2.0
# Longest side to which smaller frames are enlarged for the teacher: enlarged from 256 pixels,
# photos get as good a matte as at 448 (mean IoU .958; .951 at 256).
TEACHER_SIDE = 448
MAX_TEACHER_SCALE = 1.75
WARM_UP_STEPS = 200  # of a new optimiser in the middle of a schedule
LOSSES = tuple(schedule.loss_weights(0))
CHECKPOINT_NUMBERS = ("step", "optimizer_steps", "minutes", "pixels")
CHECKPOINT_STATES = ("net", "ema", "optimizer")
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
    add("--evaluate", action="store_true", help="score the result on the validation photos")
    return parser


def parse_arguments(argv: Sequence[str] | None = None, parser: Parser | None = None) -> Namespace:
    """The arguments of this script, by `parser` or its own."""
    args = (parser or make_parser()).parse_args(argv)
    if args.minutes is None:
        args.minutes = math.inf if args.steps else 8.0
    return args


def flatten_gradients(parameters: Iterable[nn.Parameter]) -> Tensor:
    """A vector that holds the gradients of all `parameters`, each laid out as its parameter: one
    operation clears, averages or scales them all."""
    parameters = list(parameters)
    vector = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)
    begin = 0
    for p in parameters:
        p.grad = vector[begin : begin + p.numel()].as_strided(p.shape, p.stride(), begin)
        begin += p.numel()
    return vector


def network_input(image: Tensor) -> Tensor:
    """RGB in 0 to 1 [n, 3, H, W] -> the network's input, channels last."""
    return model.normalise(image).contiguous(memory_format=torch.channels_last)


def teacher_mattes(teacher: nn.Module, image: Tensor) -> Tensor:
    """Alpha [n, 1, H, W] that `teacher` predicts for RGB [n, 3, H, W]; small frames are enlarged
    for it."""
    size = image.shape[2:]
    factor = min(MAX_TEACHER_SCALE, TEACHER_SIDE / max(size))
    if factor < 1.2:
        return torch.sigmoid(teacher(network_input(image)).float())
    enlarged = [round(side * factor / teacher.multiple) * teacher.multiple for side in size]
    image = F.interpolate(image, size=enlarged, mode="bilinear", align_corners=False)
    alpha = torch.sigmoid(teacher(network_input(image)).float())
    return F.interpolate(alpha, size=size, mode="bilinear", align_corners=False, antialias=True)


class Trainer:
    """A network in training, its optimiser, its moving average and its source of scenes."""

    def __init__(
        self, args: Namespace, dist: Distributed, people: data.PhotoSet, backgrounds: data.PhotoSet
    ) -> None:
        self.args, self.dist, self.people, self.backgrounds = args, dist, people, backgrounds
        device = dist.device
        torch.manual_seed(args.seed)
        if args.init:
            net = model.load_model(args.init)[0]
        else:
            net = model.UNet(*model.ARCHITECTURES[args.model])
        self.norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
        for norm in self.norms:
            norm.momentum = BN_MOMENTUM
            # Unused with a momentum, and one more operation for each of them.
            norm.num_batches_tracked = None
        self.net = net.train().to(device, memory_format=torch.channels_last)
        self.gradients = flatten_gradients(self.net.parameters())
        self.ema = copy.deepcopy(self.net).eval().requires_grad_(False)
        self.ema_tensors, self.net_tensors = (
            [t for t in module.state_dict().values() if t.is_floating_point()]
            for module in (self.ema, self.net)
        )
        self.optimizer = self.make_optimizer()
        self.rate_factors = [group["rate_factor"] for group in self.optimizer.param_groups]
        self.multiple = self.net.multiple  # of the sides of frames
        self.teacher = None
        if args.teacher:
            for block in net.modules():
                if isinstance(block, model.Bottleneck):
                    block.drop_rate = 0.0  # a teacher's targets need no such regularisation
            teacher = model.fold_batch_norm(model.load_model(args.teacher)[0])
            teacher = teacher.to(device, memory_format=torch.channels_last)
            self.multiple = max(self.multiple, teacher.multiple)
            self.teacher = GraphedFunction(lambda image: teacher_mattes(teacher, image))
        self.graphed_forward_backward = GraphedFunction(self.forward_backward)
        self.optimizer_steps = 0  # since the optimiser was new
        # Position in the schedule.
        self.step, self.minutes = (round(args.elapsed), 0.0) if args.steps else (0, args.elapsed)
        self.batch_norm_frozen = False
        self.pixels = args.megapixels * 1e6
        torch.manual_seed(args.seed + 100 + dist.rank)  # noise on the accelerator
        # The same in every process, unless replicas are independent: all work on frames of one size
        # at a time.
        own_shapes = 1000 * dist.rank if dist.independent else 0
        self.shape_rng = scene.RandomGenerator(args.seed + own_shapes, "cpu")
        self.rng = scene.RandomGenerator(args.seed * 1000 + dist.rank, device)

    def make_optimizer(self) -> torch.optim.AdamW:
        """AdamW with groups by weight decay and by learning rate."""
        groups = []
        for is_weight, is_pretrained in itertools.product((True, False), (False, True)):
            parameters = [
                p
                for name, p in self.net.named_parameters()
                if (p.ndim > 1) == is_weight
                and pretrained.is_pretrained(self.net, name) == is_pretrained
            ]
            if parameters:
                factor = self.args.encoder_rate_factor if is_pretrained else 1.0
                decay = self.args.weight_decay * is_weight
                groups.append({"params": parameters, "weight_decay": decay, "rate_factor": factor})
        fused = {"fused": True} if self.dist.device.type == "cuda" else {}
        return torch.optim.AdamW(groups, lr=self.args.learning_rate, betas=(0.9, 0.98), **fused)

    def autocast(self) -> AbstractContextManager:
        """bfloat16 on a GPU."""
        if self.dist.device.type == "cuda":
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def progress(self) -> float:
        """Position in the schedule, 0 to 1."""
        if self.args.steps:
            return self.step / self.args.steps
        return self.minutes / (self.args.total_minutes or self.args.minutes)

    def learning_rate(self) -> float:
        """The schedule's, with a warm-up of an optimiser that is new in the middle of it."""
        warm_up = 1.0
        if self.step > self.optimizer_steps or self.args.elapsed:
            warm_up = min(1.0, (self.optimizer_steps + 1) / WARM_UP_STEPS)
        return self.args.learning_rate * warm_up * schedule.learning_rate_factor(self.progress())

    def freeze_batch_norm(self) -> None:
        """Freezes batch norm when its time has come, at the same statistics in all processes."""
        if self.batch_norm_frozen or self.progress() < schedule.FREEZE_BATCH_NORM_AT:
            return
        self.batch_norm_frozen = True
        for norm in self.norms:
            self.dist.synchronise(norm.running_mean)
            self.dist.synchronise(norm.running_var)
            norm.eval()

    def sample_batch_shape(self) -> tuple[int, int, int, int]:
        """(scenes, pairs among them, height, width) of the next batch.

        Batches of one size of frame always hold as many frames: cuDNN plans each shape anew, which
        costs the first step milliseconds for each convolution."""
        weights = torch.tensor(schedule.size_weights(self.progress(), self.args.prefer_size))
        longest = schedule.SIZES[int(self.shape_rng.multinomial(weights, 1))] * self.args.size_scale
        ratios = torch.arange(len(schedule.ASPECT_RATIOS))
        ratio = schedule.ASPECT_RATIOS[int(self.shape_rng.choice(ratios, 1))]
        height, width = (
            max(1, round(longest * side / max(ratio) / self.multiple)) * self.multiple
            for side in ratio
        )
        pictures = max(5, int(self.pixels / (height * width)))
        share = schedule.pair_share(self.progress())
        pairs = max(1, int(pictures * share / (1 + share)))
        return pictures - pairs, pairs, height, width

    def sample_batch(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(RGB [n, 3, H, W], mattes [n, 1 or 2, H, W], pseudo bool [n], motion [pairs, H, W, 2]).

        The mattes are the label and, with a teacher, its prediction. The last `pairs` pictures are
        the first ones again, moved by `motion` and with other noise."""
        count, pairs, height, width = self.sample_batch_shape()
        size, rng, backgrounds = (height, width), self.rng, self.backgrounds
        strength = schedule.augmentation_strength(self.progress())
        image, alpha, pseudo = scene.compose(self.people, backgrounds, count, size, rng, strength)
        # Before darkness, noise and compression, in which the teacher would see no more than the
        # network does. It has not seen held objects either, which it might leave out.
        if self.teacher:
            alpha = torch.cat([alpha, self.teacher_targets(image)], 1)
        image, alpha = distractors.add_hanging_clothes(image, alpha, self.people, rng)
        image, alpha = distractors.add_backrests(image, alpha, backgrounds, rng, strength)
        image, alpha = distractors.add_nearby_objects(image, alpha, backgrounds, rng, strength)
        image, alpha = distractors.add_held_objects(image, alpha, backgrounds, rng, strength)
        image = style.cartoonise(image, alpha[:, :1], rng)
        image = style.transfer_colour(image, backgrounds, rng)
        image = camera.add_shadows(image, alpha[:, :1], rng)
        image = camera.change_backlight(image, alpha[:, :1], rng)
        image = camera.jitter_colour(image, rng, strength)
        image, alpha = camera.apply_optics(image, alpha, rng, strength)
        motion = camera.random_motion(pairs, size, rng)
        exposure = torch.exp(rng.normal(0.03, pairs, 1, 1, 1))
        moved = (camera.apply_motion(image[:pairs], motion) * exposure).clamp(0, 1)
        image = torch.cat([image, moved])
        alpha = torch.cat([alpha, camera.apply_motion(alpha[:pairs], motion)]).clamp(0, 1)
        image = camera.add_noise_and_compression(image, rng, strength)
        return image, alpha, torch.cat([pseudo, pseudo[:pairs]]), motion

    @torch.no_grad()
    def teacher_targets(self, image: Tensor) -> Tensor:
        """The teacher's alpha [n, 1, H, W] for RGB [n, 3, H, W]."""
        with self.autocast():
            return self.teacher(image)

    def losses(
        self, image: Tensor, alpha: Tensor, pseudo: Tensor, motion: Tensor
    ) -> dict[str, Tensor]:
        """The losses of a batch by name, scalars."""
        with self.autocast():
            logits, aux = self.net(network_input(image), with_aux=True)
        terms = losses.matte_loss(logits, aux, alpha[:, :1], pseudo)
        if self.teacher:
            teacher_terms = losses.matte_loss(logits, [], alpha[:, 1:], torch.ones_like(pseudo))
            terms = {
                name: 0.5 * value + 0.5 * teacher_terms.get(name, value)
                for name, value in terms.items()
            }
        predicted, pairs = torch.sigmoid(logits.float()), len(motion)
        # Only the second picture of a pair gets a gradient: that through apply_motion() is not
        # deterministic on a GPU.
        before = camera.apply_motion(predicted[:pairs].detach(), motion)
        difference = (predicted[-pairs:] - before).abs()
        visible = camera.visible_in_both(motion)
        terms["consistency"] = losses.weighted_mean(difference, visible)
        return terms

    def forward_backward(
        self, image: Tensor, alpha: Tensor, pseudo: Tensor, motion: Tensor, weights: Tensor
    ) -> Tensor:
        """Adds the gradient of all losses, by `weights` in the order of LOSSES, to `gradients`;
        returns the losses in that order."""
        terms = self.losses(image, alpha, pseudo, motion)
        losses.weighted_sum(terms, dict(zip(LOSSES, weights))).backward()
        missing = torch.zeros_like(weights[0])
        return torch.stack([terms[name].detach() if name in terms else missing for name in LOSSES])

    def loss_weights(self) -> Tensor:
        """The schedule's weights, in the order of LOSSES."""
        weights = torch.tensor(list(schedule.loss_weights(self.progress()).values()))
        return scene.to_device(weights, self.dist.device)

    def train_step(self) -> Tensor:
        """Trains on one batch; returns the losses in the order of LOSSES."""
        self.freeze_batch_norm()
        weights = self.loss_weights()
        batch = self.sample_batch()
        self.gradients.zero_()
        terms = self.graphed_forward_backward(*batch, weights, variant=self.batch_norm_frozen)
        self.dist.synchronise(self.gradients)
        self.gradients *= (MAX_GRADIENT_NORM / (self.gradients.norm() + 1e-6)).clamp(max=1)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate() * group["rate_factor"]
        self.optimizer.step()
        self.step += 1
        self.optimizer_steps += 1
        self.update_ema()
        return terms

    def reset_graphs(self) -> None:
        """Drops the CUDA graphs, which are of batches of other sizes."""
        for function in (self.graphed_forward_backward, self.teacher):
            if function:
                function.reset()

    @torch.no_grad()
    def update_ema(self) -> None:
        """Updates the exponential moving average of weights and batch-norm statistics, over about a
        thousand steps."""
        decay = min(0.999, (1 + self.optimizer_steps) / (10 + self.optimizer_steps))
        torch._foreach_mul_(self.ema_tensors, decay)
        torch._foreach_add_(self.ema_tensors, self.net_tensors, alpha=1 - decay)

    def average_replicas(self) -> None:
        """Replaces the moving average of every replica by the mean of all of them."""
        for tensor in self.ema.state_dict().values():
            if tensor.is_floating_point():
                self.dist.average(tensor)

    def save(self, path: str) -> None:
        """Writes a checkpoint."""
        state = {name: getattr(self, name) for name in CHECKPOINT_NUMBERS}
        for name in CHECKPOINT_STATES:
            state[name] = getattr(self, name).state_dict()
        state["generators"] = [
            self.shape_rng.generator.get_state(),
            self.rng.generator.get_state(),
            torch.get_rng_state(),
        ]
        state["model"] = self.args.model
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)

    def resume(self, path: str) -> None:
        """Goes on from a checkpoint."""
        state = torch.load(path, map_location="cpu")
        if state["model"] != self.args.model:
            raise SystemExit(
                f"{path} holds a {state['model']}, not a {self.args.model}: name another --out"
            )
        for name in CHECKPOINT_STATES:
            getattr(self, name).load_state_dict(state[name])
        # The factors are this run's, not the checkpoint's.
        for group, factor in zip(self.optimizer.param_groups, self.rate_factors):
            group["rate_factor"] = factor
        for name in CHECKPOINT_NUMBERS:
            setattr(self, name, state[name])
        self.shape_rng.generator.set_state(state["generators"][0])
        if self.dist.saves_checkpoints:
            self.rng.generator.set_state(state["generators"][1])
            torch.set_rng_state(state["generators"][2])
        else:
            self.rng.generator.manual_seed(self.args.seed * 1000 + self.dist.rank + self.step)


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
    """Averages replicas, and scores the result on the validation photos, if wanted."""
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
    people, backgrounds, validation = data.load_packs(args.data, dist.device)
    dist.log(
        f"{len(people)} photos of people, {len(backgrounds)} of rooms, "
        f"loaded in {time.time() - began:.1f} s"
    )
    trainer = Trainer(args, dist, people, backgrounds)
    os.makedirs(args.out, exist_ok=True)
    result = os.path.join(args.out, "checkpoint.pt")
    checkpoint = result
    if dist.independent:
        checkpoint = os.path.join(args.out, f"replica-{dist.rank}.pt")
    if os.path.exists(checkpoint):
        trainer.resume(checkpoint)
        dist.log(f"going on from {checkpoint}: minute {trainer.minutes:.2f}, step {trainer.step}")
    run(trainer, checkpoint)
    finish(trainer, validation, result)
    dist.close()


if __name__ == "__main__":
    main()
