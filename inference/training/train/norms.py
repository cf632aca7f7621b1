#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures batch norm's statistics of a model file anew, on scenes as they are at the end of training.

    python3 norms.py DATA later.safetensors measured.safetensors --blocks 4

Those that training leaves remember stronger augmentation and other weights, and a mean of two models' weights has statistics that neither measured (Wu and Johnson,
"Rethinking 'Batch' in BatchNorm", 2021; Izmailov et al., "Averaging weights leads to wider optima", 2018). --blocks N takes the first N blocks of the network, the
encoder's from the largest pictures down and then the decoder's; the others keep what they have. 64 batches take 18 minutes on one CPU thread.
"""
import argparse
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, model, train
from train.distributed import Team


class Moments:
    """Sums of what goes into one batch norm, over all batches: of all sizes of frames together, unlike a mean over batches of each one's variance."""

    def __init__(self, norm):
        self.norm, self.count, self.sum, self.squares = norm, 0, 0, 0
        norm.register_forward_pre_hook(self.add)

    def add(self, _, inputs):
        x = inputs[0].double()
        self.count += x.numel() // x.shape[1]
        self.sum = self.sum + x.sum((0, 2, 3))
        self.squares = self.squares + x.square().sum((0, 2, 3))

    def keep(self):
        mean = self.sum / self.count
        self.norm.running_mean.copy_(mean)
        self.norm.running_var.copy_(self.squares / self.count - mean.square())


@torch.no_grad()
def measure(trainer, blocks, batches):
    """Gives the first `blocks` blocks of trainer.ema, in place, the statistics of `batches` batches. Each of these normalises by its own batch meanwhile, as in training:
    what it had before must not reach those behind it."""
    norms = [norm for block in list(trainer.ema.children())[:blocks] for norm in block.modules() if isinstance(norm, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.train().momentum = 0.0
    moments = [Moments(norm) for norm in norms]
    for _ in range(batches):
        image = trainer.batch()[0]
        trainer.ema(train.inputs(image))
    for moment in moments:
        moment.keep()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("checkpoint", help="a model file")
    parser.add_argument("out")
    parser.add_argument("--blocks", type=int, required=True, help="how many to measure")
    parser.add_argument("--batches", type=int, default=64, help="to measure on")
    parser.add_argument("--megapixels", type=float, default=1.5, help="pixels of a batch")
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args(argv)
    _, facts = model.load_model(args.checkpoint)
    team = Team()
    people, rooms, _ = data.load(args.data, team.device)
    options = ["--init", args.checkpoint, "--megapixels", str(args.megapixels), "--seed", str(args.seed), "--steps", "1", "--elapsed", "1"]
    trainer = train.Trainer(train.parse([args.data, *options]), team, people, rooms)
    measure(trainer, args.blocks, args.batches)
    facts.pop("scores", None)  # of other statistics
    facts["trained"] = f"{facts.get('trained')}; batch norm of {args.blocks} blocks measured anew"
    model.save_model(args.out, trainer.ema.state_dict(), facts)
    print(f"{args.out}: {facts.get('name')} after {facts.get('trained')}")


if __name__ == "__main__":
    main()
