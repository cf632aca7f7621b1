#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores model files on photos with mattes at several input sizes, as the engines run them.
metrics.py has the metrics.

    python3 inference/training/train/evaluate.py DATA portrait.safetensors [--json scores.json]
        [--sheet sheet.png --compare other.safetensors]
    python3 inference/training/train/evaluate.py DATA portrait.safetensors --refined --full

The second command gives the same numbers as `matte-cli evaluate DATA --engine cpu`. DATA is a
folder of packs, of which the validation photos are taken, or of photos NAME.jpg with mattes
NAME.png. A photo shrinks by area averages and grows by linear interpolation, and so does the
network's matte on its way back to the size of the photo, where it is compared. --refined adds the
engines' refinement.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, model
from train.command_line import Parser
from train.metrics import BAND_METRICS, FAST_METRICS, SLOW_METRICS, mean_scores, score
from train.refine import refine, resample

SIZES = (256, 384, 512, 768)
Scores = dict[str, dict[str, float]]  # metrics by source


def input_size(height: int, width: int, longest: int, multiple: int) -> tuple[int, int]:
    """As UNet::inputSize: (height, width) with the longest side near `longest`, both multiples of
    `multiple`."""
    scale = longest / max(height, width)
    return tuple(max(1, int(side * scale / multiple + 0.5)) * multiple for side in (height, width))


@torch.no_grad()
def predict(net: nn.Module, photo: Tensor, longest: int, refined: bool = False) -> Tensor:
    """Alpha [1, 1, h, w] of RGB in 0 to 1 [1, 3, h, w]; `refined` as by the engines."""
    height, width = photo.shape[2:]
    size = input_size(height, width, longest, net.multiple)
    inputs = model.normalise(resample(photo, *size))
    inputs, state = inputs.contiguous(memory_format=torch.channels_last), {}
    # A recurrent network sees a still twice.
    for _ in range(2 if net.recurrent else 1):
        alpha = torch.sigmoid(net(inputs, state=state))
    return refine(photo, alpha) if refined else resample(alpha, height, width)


def score_photos(
    predict_alpha: Callable[[Tensor], Tensor],
    photos: data.PhotoSet,
    full: bool = False,
    every_band: bool = False,
) -> Scores:
    """Scores by source, and of "all", of a function from RGB [1, 3, h, w] to alpha [1, 1, h, w]."""
    rows = []
    for i, source in enumerate(photos.sources):
        photo, truth = photos.photo(i)
        rows.append((source, score(predict_alpha(photo), truth, full, every_band)))
    groups = {
        source: [row for s, row in rows if s == source] for source in sorted(set(photos.sources))
    }
    groups["all"] = [row for _, row in rows]
    return {source: mean_scores(group) for source, group in groups.items()}


def evaluate(
    net: nn.Module,
    photos: data.PhotoSet,
    sizes: Sequence[int] = SIZES,
    refined: bool = False,
    full: bool = False,
    every_band: bool = False,
) -> dict[str, Scores]:
    """Scores of `net` by input size and source."""

    def score_size(longest: int) -> Scores:
        return score_photos(
            lambda photo: predict(net, photo, longest, refined), photos, full, every_band
        )

    return {str(longest): score_size(longest) for longest in sizes}


def print_table(name: str, table: dict[str, Scores]) -> None:
    """Prints what `evaluate` returns. All at once, because processes that train together print
    beside each other."""
    metrics = next(iter(table.values()))["all"]
    names = (*FAST_METRICS, *SLOW_METRICS, *BAND_METRICS, "worst")
    columns = [name for name in names if name in metrics]
    widths = {column: max(7, len(column)) for column in columns}
    heading = " ".join(f"{column:>{width}}" for column, width in widths.items())
    lines = [name, f"{'size':>5} {'source':28} {heading} {'photos':>6}"]
    for size, groups in table.items():
        for source, scores in groups.items():
            values = " ".join(
                f"{scores.get(column, math.nan):{width}.4f}" for column, width in widths.items()
            )
            lines.append(f"{size:>5} {source:28} {values} {scores['photos']:6}")
    print("\n".join(lines), flush=True)


def write_contact_sheet(
    path: str,
    nets: Sequence[nn.Module],
    photos: data.PhotoSet,
    longest: int,
    count: int = 48,
    side: int = 160,
    columns: int = 4,
) -> None:
    """Writes a picture of `count` photos, each beside itself on green by its true matte and by
    those that `nets` predict."""
    tiles = []
    for i in torch.linspace(0, len(photos) - 1, min(count, len(photos))).long().tolist():
        photo, truth = photos.photo(i)
        green = torch.tensor([0.1, 0.8, 0.2], device=photo.device).view(1, 3, 1, 1)
        mattes = [truth, *(predict(net, photo, longest) for net in nets)]
        row = [photo, *(torch.lerp(green.expand_as(photo), photo, alpha) for alpha in mattes)]
        height, width = (max(1, int(v * side / max(photo.shape[2:]))) for v in photo.shape[2:])
        margins = (0, side - width, 0, side - height)
        row = [F.pad(resample(picture, height, width), margins) for picture in row]
        tiles.append(torch.cat(row, 3)[0])
    tiles += [torch.zeros_like(tiles[0])] * (-len(tiles) % columns)
    rows = [torch.cat(tiles[i : i + columns], 2) for i in range(0, len(tiles), columns)]
    data.save_picture(path, torch.cat(rows, 1).clamp(0, 1)[None], quality=85)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__, {"--beside": "--compare"})
    add = parser.add_argument
    add("data", help="folder of packs, or of photos with mattes")
    add("model")
    add("--sizes", type=int, nargs="+", default=SIZES)
    add("--refined", action="store_true", help="with the engines' refinement and 8 bits")
    add("--full", action="store_true", help="gradient and connectivity errors too, which are slow")
    add("--unknown-band", action="store_true", help="--full: the unknown bands of hard mattes too")
    add("--json", help="where to write the scores")
    add("--compare", help="another model file to score and show")
    add("--sheet", help="where to write a contact sheet")
    add("--sheet-size", type=int, default=384)
    args = parser.parse_args(argv)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # Sums in f32, as the engines keep them.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if data.has_packs(args.data):
        photos = data.load_packs(args.data, device, splits=["val"]).validation
    else:
        photos = data.load_folder(args.data, device)
    paths = [path for path in (args.model, args.compare) if path]
    nets = [model.load_model(path)[0] for path in paths]
    nets = [net.to(device, memory_format=torch.channels_last) for net in nets]
    options = args.sizes, args.refined, args.full, args.unknown_band
    tables = [evaluate(net, photos, *options) for net in nets]
    for path, table in zip(paths, tables):
        print_table(path, table)
    if args.json:
        other = {"model": args.compare, "sizes": tables[1]} if args.compare else None
        with open(args.json, "w") as file:
            json.dump({"model": args.model, "sizes": tables[0], "compare": other}, file, indent=1)
    if args.sheet:
        write_contact_sheet(args.sheet, nets, photos, args.sheet_size)


if __name__ == "__main__":
    main()
