#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the widths of a trained network, and adds a level where --widths names one more; the
mattes stay nearly what they were (after Chen et al., "Net2Net", 2016).

    python3 inference/training/train/grow.py .train portrait-lite.safetensors grown.safetensors \\
        --widths 16 32 64 64 80 56 48

A narrower layer keeps those channels from which the layers that read it can best be reconstructed
on the photos, by least squares (after He et al., "Channel pruning for accelerating very deep neural
networks", 2017). A wider one duplicates some channels, nearly, and what reads them reads a part of
each. A new level goes below the deepest one; the new block of the decoder passes its skip
connection on and ignores that level.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, model
from train.command_line import Parser
from train.evaluate import input_size
from train.refine import resample

SIZES = (256, 384, 512)  # longest sides at which photos are seen, in turns
# How far the duplicate of a channel differs from it, in root mean squares of its filter: two equal
# channels would stay equal in training.
DUPLICATE_NOISE = 0.1
NORM_TENSORS = ("weight", "bias", "running_mean", "running_var")


def rectified_moments(gamma: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of relu(z) for normal z with mean beta and deviation gamma: what
    follows a batch norm and a ReLU, by their weights alone."""
    gamma = gamma.abs().clamp_min(1e-4)
    below = 0.5 * (1 + torch.erf(beta / gamma / math.sqrt(2)))
    density = torch.exp(-0.5 * (beta / gamma) ** 2) / math.sqrt(2 * math.pi)
    mean = beta * below + gamma * density
    square = (beta**2 + gamma**2) * below + beta * gamma * density
    return mean, (square - mean**2).clamp_min(1e-8).sqrt()


def list_layers(net: model.UNet) -> list[tuple[str, int | None, list[str]]]:
    """(name, level, names of the layers that it reads, in the order of its input channels) of every
    layer that makes channels of its level. The last one, `out`, has no level."""
    layers, deepest = [], net.levels - 1
    for level in range(net.levels):
        block = f"down{level + 1}"
        layers.append((f"{block}.conv1", level, [f"down{level}.conv2"] if level else []))
        layers.append((f"{block}.conv2", level, [f"{block}.conv1"]))
    below = f"down{net.levels}.conv2"
    for level in range(deepest - 1, -1, -1):
        block = f"up{deepest - level}"
        layers.append((f"{block}.upconv", level, [below]))
        layers.append((f"{block}.conv1", level, [f"down{level + 1}.conv2", f"{block}.upconv"]))
        layers.append((f"{block}.conv2", level, [f"{block}.conv1"]))
        below = f"{block}.conv2"
    return [*layers, ("out", None, [below])]


def filters(layer: nn.Module) -> Tensor:
    """The weights of a convolution or transposed convolution as [output, input, y, x]."""
    weight = layer.weight
    return weight.transpose(0, 1) if isinstance(layer, nn.ConvTranspose2d) else weight


def norm_behind(net: model.UNet, name: str) -> nn.BatchNorm2d | None:
    """The batch norm behind the layer `name`, if there is one."""
    if not name.endswith((".conv1", ".conv2")):
        return None
    return net.get_submodule(name.replace("conv", "bn"))


def reading_filters(net: model.UNet, name: str) -> Tensor:
    """[channel of the layer `name`, ...]: all filters that read each channel."""
    found = []
    for reader, _, sources in list_layers(net):
        if name in sources:
            channels = [filters(net.get_submodule(source)).shape[0] for source in sources]
            parts = filters(net.get_submodule(reader)).split(channels, 1)
            found.append(parts[sources.index(name)].transpose(0, 1).flatten(1))
    return torch.cat(found, 1)


@torch.no_grad()
def second_moments(
    net: model.UNet, photos: data.PhotoSet, count: int, names: Sequence[str]
) -> dict[str, Tensor]:
    """By name, the sum of x x^T, f64 [channels, channels], over all pixels of `count` photos, drawn
    as training draws them, for the activations x of the layers `names`."""
    sums = {}

    def watch(name: str) -> torch.utils.hooks.RemovableHandle:
        norm = norm_behind(net, name)

        def add(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            x = (torch.relu(output) if norm else output).transpose(0, 1).flatten(1).double()
            sums[name] = sums.get(name, 0) + x @ x.T

        return (norm or net.get_submodule(name)).register_forward_hook(add)

    hooks = [watch(name) for name in names]
    drawn = []
    if names:
        replacement = count > len(photos)
        drawn = torch.multinomial(photos.sampling_weight, count, replacement=replacement).tolist()
    for turn, i in enumerate(drawn):
        photo, _ = photos.photo(i)
        size = input_size(*photo.shape[2:], SIZES[turn % len(SIZES)], net.multiple)
        net(model.normalise(resample(photo, *size)))
    for hook in hooks:
        hook.remove()
    return sums


def select_channels(moment: Tensor, read: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`count` channels in their order, and [all, count], the share of each kept one in each of all.

    Chosen one after the other: each time the channel that leaves the least of what the filters
    `read` [channel, ...] make of values with these second moments."""
    read = read.double()
    worth, rest, kept = read @ read.T, moment.clone(), []
    tiny = 1e-9 * moment.diagonal().mean()
    for _ in range(count):
        left = rest.diagonal().clamp_min(tiny)
        gain = ((rest @ worth) * rest).sum(1) / left
        gain[kept] = -1
        best = int(gain.argmax())
        kept.append(best)
        rest = rest - torch.outer(rest[:, best], rest[:, best]) / left[best]
    kept = torch.tensor(sorted(kept))
    among = moment[kept][:, kept]
    among += 1e-6 * among.diagonal().mean() * torch.eye(count, dtype=among.dtype)
    return kept, torch.linalg.solve(among, moment[kept]).T.float()


def duplicate_channels(channels: int, count: int) -> tuple[Tensor, Tensor]:
    """All channels and then duplicates of some, `count` in all, and [channels, count], the share of
    each of these in each of all."""
    kept = torch.cat([torch.arange(channels), torch.randint(channels, (count - channels,))])
    share = torch.rand(count) + 0.5
    mix = torch.zeros(channels, count)
    mix[kept, torch.arange(count)] = share
    return kept, mix / mix.sum(1, keepdim=True)


@torch.no_grad()
def change_widths(
    net: model.UNet, widths: Sequence[int], moments: Mapping[str, Tensor]
) -> model.UNet:
    """`net` with other `widths` of as many levels; `moments` are the second moments of the layers
    that get narrower."""
    result = model.UNet(widths)
    changes = {"": (torch.arange(3), torch.eye(3))}
    for name, level, sources in list_layers(net):
        old, new = net.get_submodule(name), result.get_submodule(name)
        channels = old.out_channels
        if level is None or widths[level] == channels:
            kept, mix = torch.arange(channels), torch.eye(channels)
        elif widths[level] < channels:
            kept, mix = select_channels(moments[name], reading_filters(net, name), widths[level])
        else:
            kept, mix = duplicate_channels(channels, widths[level])
        changes[name] = kept, mix
        reads = torch.block_diag(*(changes[source][1] for source in sources or [""]))
        weight = torch.einsum("oiyx,ik->okyx", filters(old)[kept], reads)
        duplicates = torch.arange(len(kept)) >= channels
        rms = weight[duplicates].square().mean((1, 2, 3), keepdim=True).sqrt()
        weight[duplicates] += DUPLICATE_NOISE * rms * torch.randn_like(weight[duplicates])
        filters(new).copy_(weight)
        if old.bias is not None:
            new.bias.copy_(old.bias[kept])
        norm = norm_behind(net, name)
        if norm:
            for part in NORM_TENSORS:
                getattr(norm_behind(result, name), part).copy_(getattr(norm, part)[kept])
    return result.eval()


def make_identity(up: model.UpBlock, norm: nn.BatchNorm2d) -> None:
    """Makes a block of the decoder return its skip connection, the values behind `norm` and a ReLU.
    Its batch norms keep their mean and deviation, in training too."""
    mean, std = rectified_moments(norm.weight, norm.bias)
    for conv, own in ((up.conv1, up.bn1), (up.conv2, up.bn2)):
        conv.weight.zero_()
        channels = torch.arange(conv.out_channels)
        conv.weight[channels, channels, 1, 1] = 1
        own.weight.copy_(std)
        own.bias.copy_(mean)
        own.running_mean.copy_(mean)
        own.running_var.copy_(std**2)


@torch.no_grad()
def add_level(net: model.UNet, width: int) -> model.UNet:
    """`net` with a level of `width` channels below its deepest."""
    result = model.UNet((*net.widths, width))
    old, new = net.state_dict(), result.state_dict()
    for name in model.inference_state(old):
        # The encoder keeps its names; the blocks of the decoder are counted from below.
        block, _, rest = name.partition(".")
        if block.startswith("up"):
            block = f"up{int(block[2:]) + 1}"
        new[f"{block}.{rest}"].copy_(old[name])
    make_identity(result.up1, getattr(result, f"down{net.levels}").bn2)
    return result.eval()


def grow(net: model.UNet, widths: Sequence[int], photos: data.PhotoSet, count: int) -> model.UNet:
    """`net` with other `widths`, at most one level more, by `count` of the photos."""
    same = widths[: net.levels]
    narrower = [
        name
        for name, level, _ in list_layers(net)
        if level is not None and same[level] < net.widths[level]
    ]
    result = change_widths(net, same, second_moments(net, photos, count, narrower))
    return add_level(result, widths[-1]) if len(widths) > net.levels else result


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument(
        "--widths",
        type=int,
        nargs="+",
        required=True,
        help="of all levels, and of one more at most",
    )
    parser.add_argument("--photos", type=int, default=160, help="how many the network sees")
    parser.add_argument("--seed", type=int, default=1, help="of photos, duplicates and a new level")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    net, metadata = model.load_model(args.model)
    if net.has_bottlenecks:
        parser.error(f"{args.model} has bottlenecks, which can't be grown")
    if len(args.widths) - net.levels not in (0, 1):
        parser.error(f"{args.model} has {net.levels} levels: name as many widths or one more")
    people, _, _ = data.load_packs(args.data, torch.device("cpu"))
    result = grow(net, args.widths, people, args.photos)
    metadata["widths"] = " ".join(map(str, result.widths))
    model.save_model(args.out, result.state_dict(), metadata)
    print(f"{args.out}: levels of {result.widths}")


if __name__ == "__main__":
    main()
