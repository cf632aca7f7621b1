#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores model files on photos with mattes at several input sizes, as the engines run them; metrics.py has the measures.

    python3 evaluate.py DATA portrait.safetensors [--json scores.json] [--sheet sheet.png --beside other.safetensors]
    python3 evaluate.py DATA portrait.safetensors --refined --full      the same numbers as `matte-cli evaluate DATA --engine cpu`

DATA is a folder of packs (their validation photos are taken), or of photos NAME.jpg with mattes NAME.png. A photo shrinks by area averages and grows by linear
interpolation, and so does the network's matte on its way back to the photo's size, where it is compared. --refined adds what the engines do to it.
"""
import argparse
import json
import sys
from pathlib import Path

import torch
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, model
from train.metrics import QUICK, SLOW, mean_scores, score
from train.refine import refined, resample

SIZES = (256, 384, 512, 768)


def input_size(height, width, longest, multiple):
    """As UNet::inputSize: the longest side near `longest`, both sides multiples of `multiple`."""
    scale = longest / max(height, width)
    return tuple(max(1, int(side * scale / multiple + 0.5)) * multiple for side in (height, width))


@torch.no_grad()
def matte(net, photo, longest, refine=False):
    """RGB [1, 3, h, w] in 0 to 1 -> alpha [1, 1, h, w]; `refine`: as the engines show it."""
    height, width = photo.shape[2:]
    inputs = model.normalise(resample(photo, *input_size(height, width, longest, net.multiple)))
    found = torch.sigmoid(net(inputs.contiguous(memory_format=torch.channels_last)))
    return refined(photo, found) if refine else resample(found, height, width)


def evaluate(net, photos, sizes=SIZES, refine=False, full=False):
    """{size: {source: scores}}, "all" among the sources."""
    table = {}
    for longest in sizes:
        rows = []
        for i in range(len(photos)):
            photo, truth = photos.photo(i)
            rows.append((photos.sources[i], score(matte(net, photo, longest, refine), truth, full)))
        groups = {source: [row for s, row in rows if s == source] for source in sorted(set(photos.sources))}
        groups["all"] = [row for _, row in rows]
        table[str(longest)] = {source: mean_scores(group) for source, group in groups.items()}
    return table


def show(name, table):
    columns = [name for name in (*QUICK, *SLOW, "worst") if name in next(iter(next(iter(table.values())).values()))]
    lines = [name, f"{'size':>5} {'source':28} " + " ".join(f"{column[:7]:>7}" for column in columns) + f" {'photos':>6}"]
    for size, groups in table.items():
        for source, s in groups.items():
            lines.append(f"{size:>5} {source:28} " + " ".join(f"{s[column]:7.4f}" for column in columns) + f" {s['photos']:6}")
    print("\n".join(lines), flush=True)  # at once: processes that train together print beside each other


def sheet(path, nets, photos, longest, count=48, side=160, across=4):
    """A picture of `count` validation photos, each beside its matte and what the networks make of it (composited on green)."""
    from PIL import Image

    tiles = []
    for i in torch.linspace(0, len(photos) - 1, min(count, len(photos))).long().tolist():
        photo, truth = photos.photo(i)
        row = [photo]
        green = torch.tensor([0.1, 0.8, 0.2], device=photo.device).view(1, 3, 1, 1)
        row += [torch.lerp(green.expand_as(photo), photo, alpha) for alpha in [truth] + [matte(net, photo, longest) for net in nets]]
        height, width = (max(1, int(v * side / max(photo.shape[2:]))) for v in photo.shape[2:])
        row = [F.pad(resample(r, height, width), (0, side - width, 0, side - height)) for r in row]
        tiles.append(torch.cat(row, 3)[0])
    tiles += [torch.zeros_like(tiles[0])] * (-len(tiles) % across)
    rows = [torch.cat(tiles[i : i + across], 2) for i in range(0, len(tiles), across)]
    pixels = (torch.cat(rows, 1).clamp(0, 1) * 255).byte().permute(1, 2, 0).cpu().contiguous()
    Image.frombytes("RGB", (pixels.shape[1], pixels.shape[0]), bytes(pixels.flatten().tolist())).save(path, quality=85)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs, or of photos with mattes")
    parser.add_argument("model")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--refined", action="store_true", help="with the engines' refinement and 8 bits")
    parser.add_argument("--full", action="store_true", help="gradient and connectivity errors too, which take longer")
    parser.add_argument("--json")
    parser.add_argument("--beside", help="another model file to score and show for comparison")
    parser.add_argument("--sheet", help="where to write a contact sheet")
    parser.add_argument("--sheet-size", type=int, default=384)
    args = parser.parse_args(argv)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # Sums in f32, as the engines keep them.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    photos = data.load(args.data, device, only_held_out=True)[2] if data.has_packs(args.data) else data.load_folder(args.data, device)
    nets = [model.load_model(path)[0].to(device, memory_format=torch.channels_last) for path in (args.model, args.beside) if path]
    tables = [evaluate(net, photos, args.sizes, args.refined, args.full) for net in nets]
    for path, table in zip((args.model, args.beside), tables):
        show(path, table)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"model": args.model, "sizes": tables[0], "beside": {"model": args.beside, "sizes": tables[1]} if args.beside else None}, file, indent=1)
    if args.sheet:
        sheet(args.sheet, nets, photos, args.sheet_size)


if __name__ == "__main__":
    main()
