#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores model files on the validation photos at several input sizes, as the engines would run them: area averages when a photo shrinks, linear interpolation when it grows,
the matte brought back to the photo's size and compared there.

    python3 evaluate.py DATA portrait.safetensors [--json scores.json] [--sheet sheet.png --beside other.safetensors]

miou: mean of the IoU of person and of background, by photo, then over photos; person: the IoU of the person alone; mad: mean absolute difference; boundary: F-score of the
outline within 2 pixels; uncertain: share of pixels with alpha from .05 to .95; worst: mean miou of the worst tenth.
"""
import argparse
import json

import torch
from torch.nn import functional as F

import data
import model

SIZES = (256, 384, 512, 768)


def taps(inputs, outputs, device):
    """The matrix [outputs, inputs] of inference/cpu/resample.h: what share of each input an output takes."""
    scale = inputs / outputs
    at = torch.arange(outputs, dtype=torch.float64, device=device).view(-1, 1)
    cell = torch.arange(inputs, dtype=torch.float64, device=device).view(1, -1)
    if scale > 1:
        covered = torch.minimum((at + 1) * scale, cell + 1) - torch.maximum(at * scale, cell)
        return (covered.clamp_min(0) / scale).float()
    centre = ((at + 0.5) * scale - 0.5).clamp(0, inputs - 1)
    return (1 - (centre - cell).abs()).clamp_min(0).float()


def resample(planes, height, width):
    down, across = taps(planes.shape[2], height, planes.device), taps(planes.shape[3], width, planes.device)
    return down @ planes @ across.T


def input_size(height, width, longest, multiple):
    """As UNet::inputSize: the longest side near `longest`, both sides multiples of `multiple`."""
    scale = longest / max(height, width)
    return tuple(max(1, int(side * scale / multiple + 0.5)) * multiple for side in (height, width))


@torch.no_grad()
def matte(net, photo, longest):
    """RGB [1, 3, h, w] in 0 to 1 -> alpha [1, 1, h, w]."""
    height, width = photo.shape[2:]
    inputs = model.normalise(resample(photo, *input_size(height, width, longest, net.multiple)))
    return resample(torch.sigmoid(net(inputs.contiguous(memory_format=torch.channels_last))), height, width)


def iou(a, b):
    either = (a | b).sum()
    return ((a & b).sum() / either) if either else torch.ones(())


def outline(mask):
    mask = mask.float()
    return (mask - -F.max_pool2d(-mask, 3, stride=1, padding=1)) > 0


def boundary_f(found, truth, tolerance=2):
    a, b = outline(found), outline(truth)
    if not a.any() or not b.any():
        return float(a.any() == b.any())
    near = [F.max_pool2d(edge.float(), 2 * tolerance + 1, stride=1, padding=tolerance) > 0 for edge in (a, b)]
    precision, recall = (a & near[1]).sum() / a.sum(), (b & near[0]).sum() / b.sum()
    return float(2 * precision * recall / (precision + recall).clamp_min(1e-9))


def score(alpha, truth):
    found, person = alpha > 0.5, truth > 0.5
    inner = float(iou(found, person))
    return {
        "miou": (inner + float(iou(~found, ~person))) / 2,
        "person": inner,
        "mad": float((alpha - truth).abs().mean()),
        "boundary": boundary_f(found, person),
        "uncertain": float(((alpha > 0.05) & (alpha < 0.95)).float().mean()),
    }


def mean_scores(rows):
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    worst = sorted(row["miou"] for row in rows)[: max(1, len(rows) // 10)]
    return {**means, "worst": sum(worst) / len(worst), "photos": len(rows)}


def evaluate(net, photos, sizes=SIZES):
    """{size: {source: scores}}, "all" among the sources."""
    table = {}
    for longest in sizes:
        rows = [(photos.sources[i], score(matte(net, photos.photo(i)[0], longest), photos.photo(i)[1])) for i in range(len(photos))]
        groups = {source: [row for s, row in rows if s == source] for source in sorted(set(photos.sources))}
        groups["all"] = [row for _, row in rows]
        table[str(longest)] = {source: mean_scores(group) for source, group in groups.items()}
    return table


def show(name, table):
    print(f"{name}\n{'size':>5} {'source':28} {'miou':>7} {'person':>7} {'mad':>7} {'bound.':>7} {'uncert.':>7} {'worst':>7} {'photos':>6}")
    for size, groups in table.items():
        for source, s in groups.items():
            print(f"{size:>5} {source:28} " + " ".join(f"{s[k]:7.4f}" for k in ("miou", "person", "mad", "boundary", "uncertain", "worst")) + f" {s['photos']:6}")


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
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("model")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json")
    parser.add_argument("--beside", help="another model file to score and show for comparison")
    parser.add_argument("--sheet", help="where to write a contact sheet")
    parser.add_argument("--sheet-size", type=int, default=384)
    args = parser.parse_args(argv)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # Sums in f32, as the engines keep them.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    photos = data.load(args.data, device, only_held_out=True)[2]
    nets = [model.load_model(path)[0].to(device, memory_format=torch.channels_last) for path in (args.model, args.beside) if path]
    tables = [evaluate(net, photos, args.sizes) for net in nets]
    for path, table in zip((args.model, args.beside), tables):
        show(path, table)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"model": args.model, "sizes": tables[0], "beside": {"model": args.beside, "sizes": tables[1]} if args.beside else None}, file, indent=1)
    if args.sheet:
        sheet(args.sheet, nets, photos, args.sheet_size)


if __name__ == "__main__":
    main()
