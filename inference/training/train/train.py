#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a matting network on packed photos for a number of minutes; a later run can go on from its checkpoint. README.md has the commands.

The schedule (learning rate, strength of augmentation) spans --total-minutes of training; a run stops after its own --minutes. With --steps the schedule counts steps instead
of minutes: a seed then sees the same scenes on any machine. With --gpus every process trains on its own GPU and gradients are averaged. With --apart none are: each process
trains a replica, from the same weights but on scenes of its own, and the mean of the replicas' weights is the result (after Gupta et al., "Stochastic Weight Averaging in
Parallel", 2020). How far the replicas' scores lie apart tells what chance does to them.
"""
import argparse
import contextlib
import copy
import itertools
import math
import os
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from augment import camera, distractors, scene, style
from train import data, evaluate, losses, model, pretrained, schedule
from train.cuda_graphs import Replayed
from train.distributed import Team, launch

BN_MOMENTUM = 0.01  # statistics of about a hundred batches, so of every size of frame
CLIP = 2.0  # the longest gradient that is followed
LESSON = 448  # longest side at which a teacher sees smaller frames: enlarged from 256 pixels, photos get as good a matte as at 448 (mean IoU .958; .951 from 256 themselves)
ENLARGED = 1.75  # at most
LOSSES = tuple(schedule.loss_weights(0))


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("--model", default="portrait", choices=model.SHAPES)
    parser.add_argument("--out", default="run", help="folder for checkpoint.pt")
    parser.add_argument("--minutes", type=float, help="of this run; default: 8, and with --steps until they are done")
    parser.add_argument("--total-minutes", type=float, help="length of the whole schedule; default: --minutes")
    parser.add_argument("--steps", type=int, help="the schedule in steps, instead of minutes")
    parser.add_argument("--repeatable", action="store_true", help="only convolutions of cuDNN that sum in the same order each time")
    parser.add_argument("--stop-after", type=int, help="stop this run at this step of the schedule")
    parser.add_argument("--megapixels", type=float, default=5.0, help="pixels of a batch on each GPU")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--encoder-rate", type=float, default=1.0, help="multiplies the rate of what pretrained.py took over")
    parser.add_argument("--decay", type=float, default=0.04, help="of weights, as in AdamW")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--init", help="a model file to start from instead of random weights")
    parser.add_argument("--elapsed", type=float, default=0, help="of the schedule, the minutes (with --steps, steps) that --init has behind it")
    parser.add_argument("--teacher", help="a model file whose mattes of the scenes, in good light, the network learns beside the labels")
    parser.add_argument("--gpus", type=int, default=1, help="processes that train together, each on its own GPU")
    parser.add_argument("--apart", action="store_true", help="with --gpus: train replicas, and take the mean of their weights at the end")
    parser.add_argument("--scores", action="store_true", help="score the averaged weights on the validation photos at the end")
    parser.add_argument("--favour", type=int, choices=schedule.SIZES, help="give half of all frames this longest side: the one that the network will mostly be given")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the sizes of frames")
    args = parser.parse_args(argv)
    if args.minutes is None:
        args.minutes = math.inf if args.steps else 8.0
    return args


def gathered(parameters):
    """One vector in which the gradients of all `parameters` lie, each laid out as its parameter is: one operation clears, averages or scales them all."""
    parameters = list(parameters)
    vector = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)
    begin = 0
    for p in parameters:
        p.grad = vector[begin : begin + p.numel()].as_strided(p.shape, p.stride(), begin)
        begin += p.numel()
    return vector


def inputs(image):
    return model.normalise(image).contiguous(memory_format=torch.channels_last)


def mattes(teacher, image):
    """What the `teacher` makes of frames [n, 3, H, W], of small ones enlarged: alpha [n, 1, H, W]."""
    size = image.shape[2:]
    factor = min(ENLARGED, LESSON / max(size))
    if factor < 1.2:
        return torch.sigmoid(teacher(inputs(image)).float())
    larger = [round(side * factor / teacher.multiple) * teacher.multiple for side in size]
    alpha = torch.sigmoid(teacher(inputs(F.interpolate(image, size=larger, mode="bilinear", align_corners=False))).float())
    return F.interpolate(alpha, size=size, mode="bilinear", align_corners=False, antialias=True)


class Trainer:
    def __init__(self, args, team, people, backgrounds):
        self.args, self.team, self.people, self.backgrounds = args, team, people, backgrounds
        device = team.device
        torch.manual_seed(args.seed)
        net = model.load_model(args.init)[0] if args.init else model.UNet(*model.SHAPES[args.model])
        self.norms = [module for module in net.modules() if isinstance(module, torch.nn.BatchNorm2d)]
        for norm in self.norms:
            norm.momentum = BN_MOMENTUM
            norm.num_batches_tracked = None  # of no use with a momentum, and one more thing to launch for each of them
        self.net = net.train().to(device, memory_format=torch.channels_last)
        self.gradients = gathered(self.net.parameters())
        self.ema = copy.deepcopy(self.net).eval().requires_grad_(False)
        self.followed = [[t for t in net.state_dict().values() if t.is_floating_point()] for net in (self.ema, self.net)]
        groups = []
        for matrix, taken in itertools.product((True, False), (False, True)):
            chosen = [p for name, p in self.net.named_parameters() if (p.ndim > 1) == matrix and pretrained.pretrained(self.net, name) == taken]
            if chosen:
                groups.append({"params": chosen, "weight_decay": args.decay * matrix, "scale": args.encoder_rate if taken else 1.0})
        self.optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.98), **({"fused": True} if device.type == "cuda" else {}))
        self.scales = [group["scale"] for group in groups]
        self.multiple = self.net.multiple  # which the sides of frames must be
        self.teacher = None
        if args.teacher:
            for block in net.modules():
                if isinstance(block, model.Bottleneck):
                    block.dropped = 0.0  # what a teacher says of every scene cannot be learnt by heart
            teacher = model.folded(model.load_model(args.teacher)[0]).to(device, memory_format=torch.channels_last)
            self.multiple = max(self.multiple, teacher.multiple)
            self.teacher = Replayed(lambda image: mattes(teacher, image))
        self.learn = Replayed(self.learnt)
        self.fresh = 0  # steps since the optimiser was new
        self.step, self.minutes = (round(args.elapsed), 0.0) if args.steps else (0, args.elapsed)  # of the schedule
        self.settled = False
        self.pixels = args.megapixels * 1e6
        torch.manual_seed(args.seed + 100 + team.rank)  # noise on the accelerator
        # The same in every process of a team: all work on frames of one size at a time.
        self.frames = scene.Random(args.seed + (1000 * team.rank if team.apart else 0), "cpu")
        self.random = scene.Random(args.seed * 1000 + team.rank, device)

    def autocast(self):
        if self.team.device.type == "cuda":
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def progress(self):
        if self.args.steps:
            return self.step / self.args.steps
        return self.minutes / (self.args.total_minutes or self.args.minutes)

    def rate(self):
        """The schedule's, after 200 steps of warm-up of an optimiser that is new in the middle of it."""
        warm = min(1.0, (self.fresh + 1) / 200) if self.step > self.fresh or self.args.elapsed else 1.0
        return self.args.rate * warm * schedule.rate(self.progress())

    def settle(self):
        """Freezes batch norm, in all processes that train together at the same statistics."""
        if not self.settled and self.progress() >= schedule.SETTLED:
            self.settled = True
            for norm in self.norms:
                self.team.average(norm.running_mean)
                self.team.average(norm.running_var)
                norm.eval()

    def frame(self):
        """(scenes, twins of some of them, height, width) of the next batch. Frames of one size are always as many: cuDNN plans each shape anew, which costs
        the first step with it milliseconds for each convolution."""
        shares = torch.tensor(schedule.size_shares(self.progress(), self.args.favour))
        longest = schedule.SIZES[int(self.frames.draw(shares, 1))] * self.args.scale
        shape = schedule.SHAPES[int(self.frames.among(torch.arange(len(schedule.SHAPES)), 1))]
        height, width = (max(1, round(longest * side / max(shape) / self.multiple)) * self.multiple for side in shape)
        pictures = max(5, int(self.pixels / (height * width)))
        share = schedule.twins(self.progress())
        twins = max(1, int(pictures * share / (1 + share)))
        return pictures - twins, twins, height, width

    def batch(self):
        """(RGB, mattes, soft, where): the matte, and after it the teacher's, if there is one. The last pictures, as many as there are paths `where` [twins, H, W, 2], are the first
        ones again, moved along those and with other noise."""
        count, twins, height, width = self.frame()
        strength = schedule.strength(self.progress())
        image, alpha, soft = scene.compose(self.people, self.backgrounds, count, (height, width), self.random, strength)
        if self.teacher:  # before darkness, noise and compression, of which it would know no more than the network
            alpha = torch.cat([alpha, self.lesson(image)], 1)
        image, alpha = distractors.hung(image, alpha, self.people, self.random)
        image, alpha = distractors.leant_on(image, alpha, self.backgrounds, self.random, strength)
        image, alpha = distractors.nearby(image, alpha, self.backgrounds, self.random, strength)
        image, alpha = distractors.held(image, alpha, self.backgrounds, self.random, strength)  # a teacher that leaves out what is held has not seen it
        image = style.toned(style.drawn(image, alpha[:, :1], self.random), self.backgrounds, self.random)
        image = camera.behind(camera.shadows(image, alpha[:, :1], self.random), alpha[:, :1], self.random)
        image = camera.colour(image, self.random, strength)
        image, alpha = camera.optics(image, alpha, self.random, strength)
        where = camera.paths(twins, (height, width), self.random)
        light = torch.exp(self.random.normal(0.03, twins, 1, 1, 1))
        image = torch.cat([image, (camera.moved(image[:twins], where) * light).clamp(0, 1)])
        alpha = torch.cat([alpha, camera.moved(alpha[:twins], where)]).clamp(0, 1)
        image = camera.record(image, self.random, strength)
        return image, alpha, torch.cat([soft, soft[:twins]]), where

    @torch.no_grad()
    def lesson(self, image):
        with self.autocast():
            return self.teacher(image)

    def losses(self, image, alpha, soft, where):
        """What is minimised, by name."""
        with self.autocast():
            logits, aux = self.net(inputs(image), with_aux=True)
        terms = losses.matte_loss(logits, aux, alpha[:, :1], soft)
        if self.teacher:
            lesson = losses.matte_loss(logits, [], alpha[:, 1:], torch.ones_like(soft))
            terms = {name: 0.5 * value + 0.5 * lesson.get(name, value) for name, value in terms.items()}
        found, twins = torch.sigmoid(logits.float()), len(where)
        # Only the second picture of two learns from it: the gradient through moved() does not come out the same each time on a GPU.
        before = camera.moved(found[:twins].detach(), where)
        terms["steady"] = losses.weighted_mean((found[-twins:] - before).abs(), camera.stayed(where))
        return terms

    def learnt(self, image, alpha, soft, where, weights):
        """Adds the gradient of all losses, by their weights in the order of schedule.loss_weights, to `gradients`; returns the losses in that order."""
        terms = self.losses(image, alpha, soft, where)
        losses.total(terms, dict(zip(LOSSES, weights))).backward()
        return torch.stack([terms[name].detach() if name in terms else torch.zeros_like(weights[0]) for name in LOSSES])

    def train_step(self):
        """Returns the losses, in the order of LOSSES."""
        self.settle()
        weights = scene.there(torch.tensor(list(schedule.loss_weights(self.progress()).values())), self.team.device)
        scenes = self.batch()
        self.gradients.zero_()
        terms = self.learn(*scenes, weights, state=self.settled)
        self.team.average(self.gradients)
        self.gradients *= (CLIP / (self.gradients.norm() + 1e-6)).clamp(max=1)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate() * group["scale"]
        self.optimizer.step()
        self.step += 1
        self.fresh += 1
        self.follow()
        return terms

    def forget(self):
        """All that was captured for batches of other sizes."""
        for replayed in (self.learn, self.teacher):
            if replayed:
                replayed.forget()

    @torch.no_grad()
    def follow(self):
        """The exponential moving average of weights and batch-norm statistics, over about the last thousand steps."""
        keep = min(0.999, (1 + self.fresh) / (10 + self.fresh))
        ours, theirs = self.followed
        torch._foreach_mul_(ours, keep)
        torch._foreach_add_(ours, theirs, alpha=1 - keep)

    def unite(self):
        """Makes the averaged weights and statistics of every replica those of all of them, in the mean."""
        for tensor in self.ema.state_dict().values():
            if tensor.is_floating_point():
                self.team.unite(tensor)

    def save(self, path):
        state = {name: getattr(self, name) for name in ("step", "fresh", "minutes", "pixels")}
        for name in ("net", "ema", "optimizer"):
            state[name] = getattr(self, name).state_dict()
        state["generators"] = [self.frames.generator.get_state(), self.random.generator.get_state(), torch.get_rng_state()]
        state["model"] = self.args.model
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)

    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        if state["model"] != self.args.model:
            raise SystemExit(f"{path} holds a {state['model']}, not a {self.args.model}: name another --out")
        for name in ("net", "ema", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        for group, scale in zip(self.optimizer.param_groups, self.scales):  # this run's, not the checkpoint's
            group["scale"] = scale
        for name in ("step", "fresh", "minutes", "pixels"):
            setattr(self, name, state[name])
        if self.team.keeps_state:
            self.frames.generator.set_state(state["generators"][0])
            self.random.generator.set_state(state["generators"][1])
            torch.set_rng_state(state["generators"][2])
        else:
            self.frames.generator.set_state(state["generators"][0])
            self.random.generator.manual_seed(self.args.seed * 1000 + self.team.rank + self.step)


def run(trainer, checkpoint):
    """Trains until this run's minutes or steps are over; saves every minute and at the end."""
    args, team = trainer.args, trainer.team
    began, before, saved = time.time(), trainer.minutes, time.time()
    seen, sums, last = 0, 0, 0.0
    while trainer.progress() < 1 and not (args.stop_after and trainer.step >= args.stop_after):
        try:
            terms = trainer.train_step()
        except torch.cuda.OutOfMemoryError:
            if team.size > 1 and not team.apart:
                raise  # the others wait in a collective operation: nothing can be saved but the last checkpoint
            trainer.pixels *= 0.7
            trainer.forget()
            torch.cuda.empty_cache()
            team.say(f"out of memory: going on with {trainer.pixels / 1e6:.1f} megapixels a batch")
            continue
        sums = sums + terms
        seen += 1
        if trainer.step % 20:
            continue
        trainer.minutes = before + team.agreed((time.time() - began) / 60)
        if trainer.minutes - before >= args.minutes:
            break
        if time.time() - last > 20:
            means = " ".join(f"{name} {float(value) / seen:.4f}" for name, value in zip(LOSSES, sums))
            pictures = seen * trainer.pixels / (320 * 240) * team.size / max(1e-6, time.time() - (last or began))
            team.say(f"{trainer.minutes:6.2f} min step {trainer.step} {pictures:.0f} pictures/s (of 320x240) rate {trainer.rate():.2e} {means}")
            seen, sums, last = 0, 0, time.time()
        if team.keeps_state and time.time() - saved > 60:
            trainer.save(checkpoint)
            saved = time.time()
    if team.keeps_state:
        trainer.save(checkpoint)
    team.say(f"trained to minute {trainer.minutes:.2f}, step {trainer.step}, in this run {(time.time() - began) / 60:.2f} min")


def main(argv=None):
    args = parse(argv)
    if args.gpus > 1 and "RANK" not in os.environ:
        raise SystemExit(launch(args.gpus))
    team = Team(args.apart)
    # cuDNN's heuristics, not its trials: dozens of frame sizes would each cost seconds of trials.
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = args.repeatable
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    began = time.time()
    people, backgrounds, held_out = data.load(args.data, team.device)
    team.say(f"{len(people)} photos of people, {len(backgrounds)} of rooms, loaded in {time.time() - began:.1f} s")
    trainer = Trainer(args, team, people, backgrounds)
    os.makedirs(args.out, exist_ok=True)
    result = os.path.join(args.out, "checkpoint.pt")
    checkpoint = os.path.join(args.out, f"replica-{team.rank}.pt") if team.apart else result
    if os.path.exists(checkpoint):
        trainer.resume(checkpoint)
        team.say(f"going on from {checkpoint}: minute {trainer.minutes:.2f}, step {trainer.step}")
    run(trainer, checkpoint)
    scored = args.scores and held_out
    if scored:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if team.apart:
        if scored:
            evaluate.show(f"replica {team.rank}", evaluate.evaluate(trainer.ema, held_out, evaluate.SIZES[:2]))
        trainer.unite()
        if team.rank == 0:
            trainer.save(result)
    if scored:
        sizes = evaluate.SIZES[team.rank :: team.size]
        evaluate.show(args.model, evaluate.evaluate(trainer.ema, held_out, sizes))
    team.part()


if __name__ == "__main__":
    main()
