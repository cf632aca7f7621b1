#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recalibrates the batch-norm statistics of a model file on scenes as they are at the end of
training.

    python3 inference/training/train/norms.py DATA later.safetensors measured.safetensors --blocks 4

Running statistics remember stronger augmentation and older weights, and the mean of two models'
weights has statistics that neither of them measured (Wu and Johnson, "Rethinking 'Batch' in
BatchNorm", 2021; Izmailov et al., "Averaging weights leads to wider optima", 2018).

--blocks N takes the first N blocks of the network, those of the encoder from the top and then those
of the decoder; the others keep what they have. 64 batches take 18 minutes on one CPU thread.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, model, train
from train.command_line import Parser
from train.distributed import Distributed
from train.trainer import Trainer, network_input


class InputMoments:
    """Mean and variance of the input of a batch norm, per channel, over the pixels of all batches:
    over all sizes of frames together, unlike the mean of each batch's variance."""

    def __init__(self, norm: nn.BatchNorm2d) -> None:
        self.norm, self.count, self.sum, self.squares = norm, 0, 0, 0
        norm.register_forward_pre_hook(self.add)

    def add(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        """Adds a batch [n, c, H, W]; a forward pre-hook."""
        x = inputs[0].double()
        self.count += x.numel() // x.shape[1]
        self.sum = self.sum + x.sum((0, 2, 3))
        self.squares = self.squares + x.square().sum((0, 2, 3))

    def store(self) -> None:
        """Makes the moments the running statistics of the batch norm."""
        mean = self.sum / self.count
        self.norm.running_mean.copy_(mean)
        self.norm.running_var.copy_(self.squares / self.count - mean.square())


@torch.no_grad()
def recalibrate(trainer: Trainer, blocks: int, batches: int) -> None:
    """Gives the first `blocks` blocks of trainer.ema, in place, the statistics of `batches`
    batches.

    Meanwhile each of them normalises by its own batch, as in training: its old statistics must not
    reach the blocks behind it."""
    norms = [
        module
        for block in list(trainer.ema.children())[:blocks]
        for module in block.modules()
        if isinstance(module, nn.BatchNorm2d)
    ]
    for norm in norms:
        norm.train().momentum = 0.0
    moments = [InputMoments(norm) for norm in norms]
    for _ in range(batches):
        image = trainer.sample_batch()[0]
        trainer.ema(network_input(image))
    for moment in moments:
        moment.store()


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("checkpoint", help="a model file")
    parser.add_argument("out")
    parser.add_argument("--blocks", type=int, required=True, help="how many to recalibrate")
    parser.add_argument("--batches", type=int, default=64, help="to measure on")
    parser.add_argument("--megapixels", type=float, default=1.5, help="pixels of a batch")
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args(argv)
    _, metadata = model.load_model(args.checkpoint)
    dist = Distributed()
    people, backgrounds, _ = data.load_packs(args.data, dist.device)
    options = ["--init", args.checkpoint, "--megapixels", str(args.megapixels)]
    options += ["--seed", str(args.seed), "--steps", "1", "--elapsed", "1"]
    options = train.parse_arguments([args.data, *options])
    trainer = Trainer(options, dist, people, backgrounds)
    recalibrate(trainer, args.blocks, args.batches)
    metadata.pop("scores", None)  # of other statistics
    trained = metadata.get("trained")
    metadata["trained"] = f"{trained}; batch norm of {args.blocks} blocks measured anew"
    model.save_model(args.out, trainer.ema.state_dict(), metadata)
    print(f"{args.out}: {metadata.get('name')} after {metadata.get('trained')}")


if __name__ == "__main__":
    main()
