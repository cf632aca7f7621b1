#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives a trained network other widths, and one more level where --widths names one more; what it knows stays (after Chen et al., "Net2Net", 2016).

    python3 grow.py .train portrait-lite.safetensors grown.safetensors --widths 16 32 64 64 80 56 48

A narrower layer keeps those of its channels from which the layers that read it follow best on the photos, and these read the kept ones instead, by least squares (after He
et al., "Channel pruning for accelerating very deep neural networks", 2017). A wider one has some of its channels twice, nearly the same, and what reads them reads a part of
each. Below the deepest level comes the new one, and the new block of the decoder passes its skip connection on and ignores that level. So the mattes stay nearly what they
were until training changes them.
"""
import argparse
import math
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data, model
from train.evaluate import input_size
from train.refine import resample

SIZES = (256, 384, 512)  # longest sides at which photos are looked at, in turns
APART = 0.1  # how far a channel's second copy differs from it, in root mean squares of its filter: two that are the same would learn the same


def rectified(gamma, beta):
    """(mean, standard deviation) of relu(z), z normal with mean beta and deviation gamma: what a batch norm and a ReLU give, by their weights alone."""
    gamma = gamma.abs().clamp_min(1e-4)
    below = 0.5 * (1 + torch.erf(beta / gamma / math.sqrt(2)))
    density = torch.exp(-0.5 * (beta / gamma) ** 2) / math.sqrt(2 * math.pi)
    mean = beta * below + gamma * density
    square = (beta**2 + gamma**2) * below + beta * gamma * density
    return mean, (square - mean**2).clamp_min(1e-8).sqrt()


def layers(net):
    """(name, level, names of the layers whose channels it reads, in their order) of every layer of `net` that makes channels of its level."""
    found, top = [], net.levels - 1
    for level in range(net.levels):
        above = [f"down{level}.conv2"] if level else []
        found += [(f"down{level + 1}.conv1", level, above), (f"down{level + 1}.conv2", level, [f"down{level + 1}.conv1"])]
    below = f"down{net.levels}.conv2"
    for level in range(top - 1, -1, -1):
        up = f"up{top - level}"
        found += [(f"{up}.upconv", level, [below]), (f"{up}.conv1", level, [f"down{level + 1}.conv2", f"{up}.upconv"]), (f"{up}.conv2", level, [f"{up}.conv1"])]
        below = f"{up}.conv2"
    return [*found, ("out", None, [below])]


def filters(layer):
    """The weights of a convolution or a transposed one as [output, input, y, x]."""
    weight = layer.weight
    return weight.transpose(0, 1) if isinstance(layer, torch.nn.ConvTranspose2d) else weight


def norm_of(net, name):
    """The batch norm behind a layer, or None."""
    return net.get_submodule(name.replace("conv", "bn")) if name.endswith((".conv1", ".conv2")) else None


def readers(net, name):
    """What is made of each of a layer's channels [channel, ...]: all filters that read it."""
    found = []
    for reader, _, sources in layers(net):
        if name in sources:
            own = filters(net.get_submodule(reader)).split([filters(net.get_submodule(source)).shape[0] for source in sources], 1)
            found.append(own[sources.index(name)].transpose(0, 1).flatten(1))
    return torch.cat(found, 1)


@torch.no_grad()
def moments(net, photos, count, names):
    """The sums of x x^T, f64, over all places of `count` photos drawn as training draws them, for the values x that the layers of these names pass on, by name."""
    sums = {}

    def adding(name, normed):
        def add(module, inputs, output):
            x = (torch.relu(output) if normed else output).transpose(0, 1).flatten(1).double()
            sums[name] = sums.get(name, 0) + x @ x.T

        return add

    hooks = [(norm_of(net, name) or net.get_submodule(name)).register_forward_hook(adding(name, norm_of(net, name) is not None)) for name in names]
    drawn = torch.multinomial(photos.weight, count, replacement=count > len(photos)).tolist() if names else []
    for turn, i in enumerate(drawn):
        photo, _ = photos.photo(i)
        net(model.normalise(resample(photo, *input_size(*photo.shape[2:], SIZES[turn % len(SIZES)], net.multiple))))
    for hook in hooks:
        hook.remove()
    return sums


def fewer(moment, read, count):
    """(`count` channels in their order, [all, count] what of each kept one makes up each of all). Those are kept, one after the other, that leave the least of what
    the filters that read them [channel, ...] make of the values whose second moments these are."""
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


def more(channels, count):
    """(all channels and then copies of some, [channels, count] what of each of these makes up each of all)."""
    kept = torch.cat([torch.arange(channels), torch.randint(channels, (count - channels,))])
    share = torch.rand(count) + 0.5
    mix = torch.zeros(channels, count)
    mix[kept, torch.arange(count)] = share
    return kept, mix / mix.sum(1, keepdim=True)


@torch.no_grad()
def resized(net, widths, sums):
    """`net` with other `widths` of as many levels; `sums` are the `moments` of the layers that get narrower."""
    result = model.UNet(widths)
    changes = {"": (torch.arange(3), torch.eye(3))}
    for name, level, sources in layers(net):
        old, new = net.get_submodule(name), result.get_submodule(name)
        channels = old.out_channels
        if level is None or widths[level] == channels:
            kept, mix = torch.arange(channels), torch.eye(channels)
        elif widths[level] < channels:
            kept, mix = fewer(sums[name], readers(net, name), widths[level])
        else:
            kept, mix = more(channels, widths[level])
        changes[name] = kept, mix
        reads = torch.block_diag(*(changes[source][1] for source in sources or [""]))
        weight = torch.einsum("oiyx,ik->okyx", filters(old)[kept], reads)
        copies = torch.arange(len(kept)) >= channels
        weight[copies] += APART * weight[copies].square().mean((1, 2, 3), keepdim=True).sqrt() * torch.randn_like(weight[copies])
        filters(new).copy_(weight)
        if old.bias is not None:
            new.bias.copy_(old.bias[kept])
        if norm_of(net, name):
            for part in ("weight", "bias", "running_mean", "running_var"):
                getattr(norm_of(result, name), part).copy_(getattr(norm_of(net, name), part)[kept])
    return result.eval()


def pass_on(up, norm):
    """Makes a decoder's block give what its skip connection brings, the values behind `norm` and a ReLU. Its batch norms keep their mean and spread, in training too."""
    mean, deviation = rectified(norm.weight, norm.bias)
    for conv, own in ((up.conv1, up.bn1), (up.conv2, up.bn2)):
        conv.weight.zero_()
        channels = torch.arange(conv.out_channels)
        conv.weight[channels, channels, 1, 1] = 1
        own.weight.copy_(deviation)
        own.bias.copy_(mean)
        own.running_mean.copy_(mean)
        own.running_var.copy_(deviation**2)


@torch.no_grad()
def deepened(net, width):
    """`net` with a level of `width` channels below its deepest."""
    result = model.UNet((*net.widths, width))
    state, ours = net.state_dict(), result.state_dict()
    for name in model.exported(state):  # encoder: the same names; decoder: named from the bottom, so one further
        block, _, rest = name.partition(".")
        further = f"up{int(block[2:]) + 1}" if block.startswith("up") else block
        ours[f"{further}.{rest}"].copy_(state[name])
    pass_on(result.up1, getattr(result, f"down{net.levels}").bn2)
    return result.eval()


def grown(net, widths, photos, count):
    """`net` with other `widths`, perhaps one level more; `count` of the photos are looked at."""
    same = widths[: net.levels]
    narrower = [name for name, level, _ in layers(net) if level is not None and same[level] < net.widths[level]]
    result = resized(net, same, moments(net, photos, count, narrower))
    return deepened(result, widths[-1]) if len(widths) > net.levels else result


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--widths", type=int, nargs="+", required=True, help="of the levels, as many as the network has or one more")
    parser.add_argument("--photos", type=int, default=160, help="so many are looked at")
    parser.add_argument("--seed", type=int, default=1, help="of the photos, the copies and the new level's weights")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    net, facts = model.load_model(args.model)
    if net.mobile:
        parser.error(f"{args.model} has bottlenecks, which can't be grown")
    if len(args.widths) - net.levels not in (0, 1):
        parser.error(f"{args.model} has {net.levels} levels: name as many widths or one more")
    people, _, _ = data.load(args.data, torch.device("cpu"))
    result = grown(net, args.widths, people, args.photos)
    model.save_model(args.out, result.state_dict(), {**facts, "widths": " ".join(map(str, result.widths))})
    print(f"{args.out}: levels of {result.widths}")


if __name__ == "__main__":
    main()
