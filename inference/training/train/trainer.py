# SPDX-License-Identifier: Apache-2.0
"""A network in training: batches, losses, steps, moving average, checkpoints."""

import contextlib
import copy
import itertools
import os
from argparse import Namespace
from collections.abc import Iterable
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from augment import camera, distractors, limbs, sampling, scene, strands, style
from train import data, losses, model, pretrained, schedule
from train.cuda_graphs import GraphedFunction
from train.distributed import Distributed

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


def teacher_mattes(teacher: nn.Module, image: Tensor, frames: int) -> Tensor:
    """Alpha [n, 1, H, W] that `teacher` predicts for RGB [n, 3, H, W] in sequences of `frames`;
    small frames are enlarged for it."""
    size = image.shape[2:]
    factor = min(MAX_TEACHER_SCALE, TEACHER_SIDE / max(size))
    if factor < 1.2:
        return torch.sigmoid(teacher(network_input(image), frames=frames).float())
    enlarged = [round(side * factor / teacher.multiple) * teacher.multiple for side in size]
    image = F.interpolate(image, size=enlarged, mode="bilinear", align_corners=False)
    alpha = torch.sigmoid(teacher(network_input(image), frames=frames).float())
    return F.interpolate(alpha, size=size, mode="bilinear", align_corners=False, antialias=True)


class Trainer:
    """A network in training, its optimiser, its moving average and its source of scenes."""

    def __init__(self, args: Namespace, dist: Distributed, packs: data.Packs) -> None:
        self.args, self.dist, self.packs = args, dist, packs
        device = dist.device
        torch.manual_seed(args.seed)
        if args.init:
            net = model.load_model(args.init, model.ARCHITECTURES[args.model][2])[0]
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
            self.teacher = GraphedFunction(
                lambda image, frames: teacher_mattes(teacher, image, frames)
            )
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
        self.shape_rng = sampling.RandomGenerator(args.seed + own_shapes, "cpu")
        self.rng = sampling.RandomGenerator(args.seed * 1000 + dist.rank, device)

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
        """(sequences, frames of each, height, width) of the next batch.

        Batches of one size of frame and as many frames always hold as many sequences: cuDNN plans
        each shape anew, which costs the first step milliseconds for each convolution."""
        rng = self.shape_rng
        weights = torch.tensor(schedule.size_weights(self.progress(), self.args.prefer_size))
        longest = schedule.SIZES[int(rng.multinomial(weights, 1))]
        ratios = torch.arange(len(schedule.ASPECT_RATIOS))
        ratio = schedule.ASPECT_RATIOS[int(rng.choice(ratios, 1))]
        height, width = (
            max(1, round(longest * self.args.size_scale * side / max(ratio) / self.multiple))
            * self.multiple
            for side in ratio
        )
        moving = rng.scalar(0, 1) < schedule.moving_share(self.progress())
        frames = schedule.sequence_frames(longest) if moving else schedule.STILL_FRAMES
        sequences = max(2, int(self.pixels / (height * width * frames)))
        return sequences, frames, height, width

    def sample_batch(self) -> tuple[Tensor, Tensor, Tensor, int]:
        """(RGB [n, 3, H, W], mattes [n, 1 or 2, H, W], pseudo bool [n], frames of a sequence).

        The mattes are the label and, with a teacher, its prediction."""
        sequences, frames, height, width = self.sample_batch_shape()
        # A still is a sequence of frames that differ in noise alone.
        still = frames == schedule.STILL_FRAMES
        size, count = (height, width), sequences * (1 if still else frames)
        rng, backgrounds, people = self.rng, self.packs.backgrounds, self.packs.people
        rng.frames = 1 if still else frames
        strength = schedule.augmentation_strength(self.progress())
        image, alpha, pseudo, motion = scene.compose(
            people, backgrounds, count, size, rng, strength, self.packs.clips
        )
        # Before darkness, noise and compression, in which the teacher would see no more than the
        # network does. It has not seen held objects either, which it might leave out.
        if self.teacher:
            alpha = torch.cat([alpha, self.teacher_targets(image, rng.frames)], 1)
        image, alpha = distractors.add_hanging_clothes(image, alpha, people, rng)
        image, alpha = distractors.add_backrests(image, alpha, backgrounds, rng, strength)
        image, alpha = distractors.add_nearby_objects(image, alpha, backgrounds, rng, strength)
        image, alpha = distractors.add_held_objects(
            image, alpha, backgrounds, motion, rng, strength
        )
        image, alpha = strands.add_strands(image, alpha, motion, rng)
        image, alpha = limbs.add_arms(image, alpha, motion, rng)
        image = style.cartoonise(image, alpha[:, :1], rng)
        image = style.transfer_colour(image, backgrounds, rng)
        image = camera.add_shadows(image, alpha[:, :1], rng)
        image = camera.change_backlight(image, alpha[:, :1], rng)
        image = camera.jitter_colour(image, rng, strength)
        image, alpha = camera.apply_optics(image, alpha, rng, strength)
        if still:
            rng.frames = frames
            image, alpha, pseudo = (rng.repeated(values) for values in (image, alpha, pseudo))
        image = camera.flicker(image, rng)
        image = camera.add_noise_and_compression(image, rng, strength)
        return image, alpha.clamp(0, 1), pseudo, frames

    @torch.no_grad()
    def teacher_targets(self, image: Tensor, frames: int) -> Tensor:
        """The teacher's alpha [n, 1, H, W] for RGB [n, 3, H, W] in sequences of `frames`."""
        with self.autocast():
            return self.teacher(image, static=(frames,))

    def losses(
        self, image: Tensor, alpha: Tensor, pseudo: Tensor, frames: int
    ) -> dict[str, Tensor]:
        """The losses of a batch by name, scalars."""
        with self.autocast():
            logits, aux = self.net(network_input(image), with_aux=True, frames=frames)
        terms = losses.matte_loss(logits, aux, alpha[:, :1], pseudo)
        if self.teacher:
            teacher_terms = losses.matte_loss(logits, [], alpha[:, 1:], torch.ones_like(pseudo))
            terms = {
                name: 0.5 * value + 0.5 * teacher_terms.get(name, value)
                for name, value in terms.items()
            }
        predicted = torch.sigmoid(logits.float())
        terms["temporal"] = losses.temporal_loss(predicted, alpha[:, :1], frames)
        return terms

    def forward_backward(
        self, image: Tensor, alpha: Tensor, pseudo: Tensor, weights: Tensor, frames: int
    ) -> Tensor:
        """Adds the gradient of all losses, by `weights` in the order of LOSSES, to `gradients`;
        returns the losses in that order."""
        terms = self.losses(image, alpha, pseudo, frames)
        losses.weighted_sum(terms, dict(zip(LOSSES, weights))).backward()
        missing = torch.zeros_like(weights[0])
        return torch.stack([terms[name].detach() if name in terms else missing for name in LOSSES])

    def loss_weights(self) -> Tensor:
        """The schedule's weights, in the order of LOSSES."""
        weights = torch.tensor(list(schedule.loss_weights(self.progress()).values()))
        return sampling.to_device(weights, self.dist.device)

    def train_step(self) -> Tensor:
        """Trains on one batch; returns the losses in the order of LOSSES."""
        self.freeze_batch_norm()
        weights = self.loss_weights()
        *batch, frames = self.sample_batch()
        self.gradients.zero_()
        terms = self.graphed_forward_backward(
            *batch, weights, static=(frames,), variant=self.batch_norm_frozen
        )
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
