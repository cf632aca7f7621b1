#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the averaged weights of a checkpoint as a model file that the engines read.

    python3 export.py run/checkpoint.pt portrait.safetensors --longest-side 384 --commit abc1234 [--scores evaluation.json]
"""
import argparse
import json

import torch

import model

DATA = (
    "eg1800, clothing-co-parsing and mixed photos labelled by people, photos with mattes on which four models agree, "
    "and photos of empty rooms; research use; see the model card"
)


def metadata(name, longest_side, minutes, step, commit, scores):
    facts = {
        "architecture": "unet",
        "name": name,
        "widths": " ".join(map(str, model.WIDTHS[name])),
        "bn_eps": model.BN_EPS,
        "longest_side": longest_side,
        "input": "RGB, 0..1, mean 0.485 0.456 0.406, std 0.229 0.224 0.225, NCHW",
        "output": "1 logit; sigmoid gives alpha",
        "concat": "skip first, then upsampled",
        "data": DATA,
        "trained": f"{minutes:.1f} minutes, {step} steps",
        "commit": commit,
    }
    if scores:
        facts["scores"] = scores
    return facts


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("out")
    parser.add_argument("--longest-side", type=int, default=384)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--scores", help="what evaluate.py --json wrote")
    args = parser.parse_args(argv)
    state = torch.load(args.checkpoint, map_location="cpu")
    scores = ""
    if args.scores:
        with open(args.scores) as file:
            by_size = json.load(file)["sizes"]
        scores = json.dumps(by_size.get(str(args.longest_side), by_size))
    facts = metadata(state["model"], args.longest_side, state["minutes"], state["step"], args.commit, scores)
    model.save_model(args.out, state["ema"], facts)
    print(f"{args.out}: {state['model']} after {state['minutes']:.1f} minutes, {state['step']} steps")


if __name__ == "__main__":
    main()
