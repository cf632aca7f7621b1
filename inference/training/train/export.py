#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the averaged weights of a checkpoint, or a model file's, as a model file that the engines read.

    python3 export.py run/checkpoint.pt portrait.safetensors --longest-side 512 --commit abc1234 [--scores evaluation.json]
    python3 export.py later.safetensors portrait.safetensors --average earlier.safetensors --share 0.7 --contrast 1.5

--average FILE: the weighted mean of the two models' weights, where one was trained on from the other (after Wortsman et al., "Robust fine-tuning of zero-shot
models", 2022): as good on photos like those of training, and better on others. --share says how much of FILE, --share-of LAYER=SHARE how much in one part of
the network (down5, down5.block4, up1.conv2 and so on; of several that hold a tensor the last one counts).

--contrast C: alpha = sigmoid(C z) for the network's logit z, by way of the last layer's weights. Cross-entropy asks for probabilities, which err least by
logarithm; a matte that is to err least by its absolute difference is nearer to 0 and 1. What is a person, alpha above 1/2, stays as it is.
"""
import argparse
import contextlib
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import model

DATA = (
    "eg1800, clothing-co-parsing and mixed photos labelled by people, photos with mattes on which four models agree, "
    "and photos of empty rooms; research use; see the model card"
)


def read(path):
    """(weights, facts about them) of a checkpoint or a model file."""
    if path.endswith(".safetensors"):
        net, facts = model.load_model(path)
        return net.state_dict(), facts
    state = torch.load(path, map_location="cpu")
    return state["ema"], metadata(state["model"], model.widths(model.shape(state["ema"])[0]), state["minutes"], state["fresh"])


def metadata(name, widths, minutes, step):
    return {
        "architecture": "unet",
        "name": name,
        "widths": " ".join(map(str, widths)),
        "bn_eps": model.BN_EPS,
        "longest_side": 512,
        "input": "RGB, 0..1, mean 0.485 0.456 0.406, std 0.229 0.224 0.225, NCHW",
        "output": "1 logit; sigmoid gives alpha",
        "concat": "skip first, then upsampled",
        "data": DATA,
        "trained": f"{minutes:.1f} minutes of the schedule, {step} steps",
        "commit": "unknown",
    }


def layer_share(text):
    """LAYER=SHARE -> (layer, share)."""
    layer, _, share = text.partition("=")
    with contextlib.suppress(ValueError):
        if 0 <= float(share) <= 1:
            return layer, float(share)
    raise argparse.ArgumentTypeError(f"'{text}' is not LAYER=SHARE with a share of 0 to 1")


def average(weights, other, share, shares=()):
    """The mean of two state dicts, a `share` of it `other`'s: a tensor's own where `shares`, pairs of a layer and a share, name a layer that holds it."""
    mean = {}
    for name, tensor in model.exported(weights).items():
        named = [of for layer, of in shares if name.startswith(layer + ".")]
        mean[name] = torch.lerp(tensor, other[name], named[-1] if named else share)
    return mean


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("out")
    parser.add_argument("--longest-side", type=int, help="of the network's input; default: as it was, or 512")
    parser.add_argument("--photo-side", type=int, help="the same for photos; default: as it was, or --longest-side")
    parser.add_argument("--commit", help="noted in the file")
    parser.add_argument("--average", help="another model file")
    parser.add_argument("--share", type=float, default=0.5, help="of that other one, 0 to 1")
    parser.add_argument("--share-of", type=layer_share, action="append", default=[], metavar="LAYER=SHARE", help="another share for the weights of one layer; can be repeated")
    parser.add_argument("--contrast", type=float, default=1.0, help="multiplies the logits; above 0")
    parser.add_argument("--scores", help="what evaluate.py --json wrote")
    args = parser.parse_args(argv)
    if not args.contrast > 0:
        parser.error("--contrast must be above 0")
    if not 0 <= args.share <= 1:
        parser.error("--share must be from 0 to 1")
    if args.share_of and not args.average:
        parser.error("--share-of needs --average")
    weights, facts = read(args.checkpoint)
    facts.pop("scores", None)  # of other weights, or of another size
    if args.commit:
        facts["commit"] = args.commit
    if args.longest_side:
        facts["longest_side"] = args.longest_side
    if args.photo_side:
        facts["photo_side"] = args.photo_side
    if args.average:
        other, before = read(args.average)
        strangers = [layer for layer, _ in args.share_of if not any(name.startswith(layer + ".") for name in other)]
        if strangers:
            parser.error(f"there is no layer {strangers[0]} in {args.average}")
        weights = average(weights, other, args.share, args.share_of)
        shares = ", ".join([str(args.share)] + [f"{share} in {layer}" for layer, share in args.share_of])
        facts["trained"] = f"{shares} of {before.get('trained')} (commit {before.get('commit')}), the rest of {facts.get('trained')} from there"
    if args.contrast != 1:
        facts["contrast"] = args.contrast * float(facts.get("contrast", 1))
        weights = {name: tensor * args.contrast if name.startswith("out.") else tensor for name, tensor in weights.items()}
    if args.scores:
        with open(args.scores) as file:
            by_size = json.load(file)["sizes"]
        facts["scores"] = json.dumps(by_size.get(str(facts.get("photo_side", facts["longest_side"])), by_size))
    model.save_model(args.out, weights, facts)
    print(f"{args.out}: {facts.get('name')} after {facts.get('trained')}")


if __name__ == "__main__":
    main()
