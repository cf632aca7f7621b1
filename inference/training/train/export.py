#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the averaged weights of a checkpoint, or a model file's, as a model file for the engines.

    python3 inference/training/train/export.py run/checkpoint.pt portrait.safetensors \\
        --longest-side 512 --commit abc1234 [--scores evaluation.json]
    python3 inference/training/train/export.py later.safetensors portrait.safetensors \\
        --average earlier.safetensors --share 0.7 --contrast 1.5

--average FILE: the weighted mean of the weights of two models, of which one was trained on from the
other (after Wortsman et al., "Robust fine-tuning of zero-shot models", 2022): as good on photos
like those of training, and better on others. --share is the share of FILE, --share-of LAYER=SHARE
that in one part of the network (down5, down5.block4, up1.conv2 and so on; of several that hold a
tensor the last one counts).

--contrast C: alpha = sigmoid(C z) for the network's logit z, by way of the last layer's weights.
Cross-entropy asks for probabilities, with the least logarithmic error; a matte with the least
absolute difference is nearer to 0 and 1. The outline at alpha = 1/2 stays as it is.
"""

import argparse
import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import model
from train.command_line import Parser

DATA = (
    "eg1800, clothing-co-parsing and mixed photos labelled by people, photos with mattes on which "
    "four models agree, and photos of empty rooms; research use; see the model card"
)


def read_weights(path: str) -> tuple[dict[str, Tensor], dict[str, object]]:
    """The weights of a checkpoint or a model file, and the metadata."""
    if path.endswith(".safetensors"):
        net, metadata = model.load_model(path)
        return net.state_dict(), dict(metadata)
    state = torch.load(path, map_location="cpu")
    widths = model.level_widths(model.architecture(state["ema"])[0])
    steps = state["optimizer_steps"]
    return state["ema"], make_metadata(state["model"], widths, state["minutes"], steps)


def make_metadata(
    name: str, widths: Sequence[int], minutes: float, steps: int
) -> dict[str, object]:
    """The metadata of a model file."""
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
        "trained": f"{minutes:.1f} minutes of the schedule, {steps} steps",
        "commit": "unknown",
    }


def parse_layer_share(text: str) -> tuple[str, float]:
    """LAYER=SHARE -> (layer, share)."""
    layer, _, share = text.partition("=")
    with contextlib.suppress(ValueError):
        if 0 <= float(share) <= 1:
            return layer, float(share)
    raise argparse.ArgumentTypeError(f"'{text}' is not LAYER=SHARE with a share of 0 to 1")


def average_weights(
    weights: Mapping[str, Tensor],
    other: Mapping[str, Tensor],
    share: float,
    layer_shares: Sequence[tuple[str, float]] = (),
) -> dict[str, Tensor]:
    """The mean of two state dicts, a `share` of it `other`'s; that of `layer_shares` in the layers
    that they name."""
    mean = {}
    for name, tensor in model.inference_state(weights).items():
        own = [share for layer, share in layer_shares if name.startswith(layer + ".")]
        mean[name] = torch.lerp(tensor, other[name], own[-1] if own else share)
    return mean


def make_parser() -> Parser:
    """The parser of this script's arguments."""
    parser = Parser(__doc__)
    add = parser.add_argument
    add("checkpoint")
    add("out")
    add("--longest-side", type=int, help="of the network's input; default: as it was, or 512")
    add("--photo-side", type=int, help="the same for photos; default: as it was, or --longest-side")
    add("--commit", help="noted in the file")
    add("--average", help="another model file")
    add("--share", type=float, default=0.5, help="of that other one, 0 to 1")
    add(
        "--share-of",
        type=parse_layer_share,
        action="append",
        default=[],
        metavar="LAYER=SHARE",
        help="another share for the weights of one layer; can be repeated",
    )
    add("--contrast", type=float, default=1.0, help="multiplies the logits; above 0")
    add("--scores", help="what evaluate.py --json wrote")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = make_parser()
    args = parser.parse_args(argv)
    if not args.contrast > 0:
        parser.error("--contrast must be above 0")
    if not 0 <= args.share <= 1:
        parser.error("--share must be from 0 to 1")
    if args.share_of and not args.average:
        parser.error("--share-of needs --average")
    weights, metadata = read_weights(args.checkpoint)
    metadata.pop("scores", None)  # of other weights, or of another size
    if args.commit:
        metadata["commit"] = args.commit
    if args.longest_side:
        metadata["longest_side"] = args.longest_side
    if args.photo_side:
        metadata["photo_side"] = args.photo_side
    if args.average:
        other, other_metadata = read_weights(args.average)
        layers = [layer for layer, _ in args.share_of]
        unknown = [x for x in layers if not any(name.startswith(x + ".") for name in other)]
        if unknown:
            parser.error(f"there is no layer {unknown[0]} in {args.average}")
        weights = average_weights(weights, other, args.share, args.share_of)
        layer_shares = [f"{share} in {layer}" for layer, share in args.share_of]
        metadata["trained"] = (
            f"{', '.join([str(args.share), *layer_shares])} of {other_metadata.get('trained')} "
            f"(commit {other_metadata.get('commit')}), "
            f"the rest of {metadata.get('trained')} from there"
        )
    if args.contrast != 1:
        metadata["contrast"] = args.contrast * float(metadata.get("contrast", 1))
        weights = {
            name: tensor * args.contrast if name.startswith("out.") else tensor
            for name, tensor in weights.items()
        }
    if args.scores:
        with open(args.scores) as file:
            by_size = json.load(file)["sizes"]
        size = metadata.get("photo_side", metadata["longest_side"])
        metadata["scores"] = json.dumps(by_size.get(str(size), by_size))
    model.save_model(args.out, weights, metadata)
    print(f"{args.out}: {metadata.get('name')} after {metadata.get('trained')}")


if __name__ == "__main__":
    main()
