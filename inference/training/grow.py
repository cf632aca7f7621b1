#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives a trained network one more level, so that its deepest layers see twice as far; what it knows stays (after Chen et al., "Net2Net", 2016).

    python3 grow.py .train portrait.safetensors grown.safetensors --narrow 192 --add 112

That makes room: the deepest level keeps --narrow of its channels, those from which the others follow best on the photos, and the filters that read it read the kept ones
instead, by least squares (after He et al., "Channel pruning for accelerating very deep neural networks", 2017). Below it comes a level of --add channels. The new block of
the decoder passes its skip connection on and ignores that level: the mattes are those of the narrowed network until training changes them.
"""
import argparse
import math

import torch

import data
import model
from evaluate import input_size
from refine import resample

SIZES = (256, 384, 512)  # longest sides at which photos are looked at, in turns


def rectified(gamma, beta):
    """(mean, standard deviation) of relu(z), z normal with mean beta and deviation gamma: what a batch norm and a ReLU give, by their weights alone."""
    gamma = gamma.abs().clamp_min(1e-4)
    below = 0.5 * (1 + torch.erf(beta / gamma / math.sqrt(2)))
    density = torch.exp(-0.5 * (beta / gamma) ** 2) / math.sqrt(2 * math.pi)
    mean = beta * below + gamma * density
    square = (beta**2 + gamma**2) * below + beta * gamma * density
    return mean, (square - mean**2).clamp_min(1e-8).sqrt()


@torch.no_grad()
def moments(net, photos, count):
    """The sums of x x^T, f64, over all places of `count` photos drawn as training draws them, for the values x behind the deepest block's two batch norms, by name."""
    sums = {}

    def adding(name):
        def add(module, inputs, output):
            x = torch.relu(output).transpose(0, 1).flatten(1).double()
            sums[name] = sums.get(name, 0) + x @ x.T

        return add

    deepest = getattr(net, f"down{net.levels}")
    hooks = [getattr(deepest, name).register_forward_hook(adding(name)) for name in ("bn1", "bn2")]
    drawn = torch.multinomial(photos.weight, count, replacement=count > len(photos)).tolist()
    for turn, i in enumerate(drawn):
        photo, _ = photos.photo(i)
        net(model.normalise(resample(photo, *input_size(*photo.shape[2:], SIZES[turn % len(SIZES)], net.multiple))))
    for hook in hooks:
        hook.remove()
    return sums


def choose(moment, readers, count):
    """(`count` channels in their order, [all, count] what of each kept one makes up each of all). Those are kept, one after the other, that leave the least of what
    the filters that read them [channel, ...] make of the values whose second moments these are."""
    filters = readers.flatten(1).double()
    worth, rest, kept = filters @ filters.T, moment.clone(), []
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


def copy_norm(into, norm, kept):
    for name in ("weight", "bias", "running_mean", "running_var"):
        getattr(into, name).copy_(getattr(norm, name)[kept])


def narrow(into, block, upconv_into, upconv, sums):
    """Copies a deepest block and the transposed convolution that reads it into narrower ones."""
    width = into.conv1.out_channels
    inner, inner_mix = choose(sums["bn1"], block.conv2.weight.transpose(0, 1), width)
    outer, outer_mix = choose(sums["bn2"], upconv.weight, width)
    into.conv1.weight.copy_(block.conv1.weight[inner])
    into.conv2.weight.copy_(torch.einsum("oiyx,ik->okyx", block.conv2.weight[outer], inner_mix))
    copy_norm(into.bn1, block.bn1, inner)
    copy_norm(into.bn2, block.bn2, outer)
    upconv_into.weight.copy_(torch.einsum("ioyx,ik->koyx", upconv.weight, outer_mix))
    upconv_into.bias.copy_(upconv.bias)


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
def grown(net, narrowed, added, sums):
    """`net` with its deepest level narrowed to `narrowed` channels, by its `moments`, and a level of `added` below it."""
    levels = net.levels
    result = model.UNet((*net.widths[:-1], narrowed, added))
    for i in range(1, levels):  # encoder: the same names; decoder: named from the bottom, so one further
        getattr(result, f"down{i}").load_state_dict(getattr(net, f"down{i}").state_dict())
        if i > 1:
            getattr(result, f"up{i + 1}").load_state_dict(getattr(net, f"up{i}").state_dict())
    for name in ("conv1", "bn1", "conv2", "bn2"):
        getattr(result.up2, name).load_state_dict(getattr(net.up1, name).state_dict())
    deepest = getattr(result, f"down{levels}")
    narrow(deepest, getattr(net, f"down{levels}"), result.up2.upconv, net.up1.upconv, sums)
    pass_on(result.up1, deepest.bn2)
    result.out.load_state_dict(net.out.state_dict())
    return result.eval()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of packs")
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--narrow", type=int, required=True, help="channels that the deepest level keeps")
    parser.add_argument("--add", type=int, required=True, help="channels of the level below it")
    parser.add_argument("--photos", type=int, default=160, help="so many are looked at")
    parser.add_argument("--seed", type=int, default=1, help="of the photos and the new level's weights")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    net, facts = model.load_model(args.model)
    people, _, _ = data.load(args.data, torch.device("cpu"))
    result = grown(net, args.narrow, args.add, moments(net, people, args.photos))
    model.save_model(args.out, result.state_dict(), {**facts, "widths": " ".join(map(str, result.widths))})
    print(f"{args.out}: levels of {result.widths}")


if __name__ == "__main__":
    main()
