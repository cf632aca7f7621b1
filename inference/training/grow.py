#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives a trained network one more level, so that its deepest layers see twice as far; what it knows stays (after Chen et al., "Net2Net", 2016).

    python3 grow.py portrait.safetensors grown.safetensors --narrow 192 --add 112

The deepest level keeps the --narrow channels that matter most to the layers behind it, which makes room for a level of --add channels below. The new block of the decoder
passes its skip connection on and ignores the new level: the mattes are those of the narrowed network until training changes them.
"""
import argparse
import math

import torch

import model


def rectified(gamma, beta):
    """(mean, standard deviation) of relu(z), z normal with mean beta and deviation gamma: what a batch norm and a ReLU give, by their weights alone."""
    gamma = gamma.abs().clamp_min(1e-4)
    below = 0.5 * (1 + torch.erf(beta / gamma / math.sqrt(2)))
    density = torch.exp(-0.5 * (beta / gamma) ** 2) / math.sqrt(2 * math.pi)
    mean = beta * below + gamma * density
    square = (beta**2 + gamma**2) * below + beta * gamma * density
    return mean, (square - mean**2).clamp_min(1e-8).sqrt()


def most_important(norm, readers, count):
    """The `count` channels of a batch norm whose values, as weighed by the filters that read them [channel, ...], are largest, in their order."""
    mean, deviation = rectified(norm.weight, norm.bias)
    worth = (mean**2 + deviation**2).sqrt() * readers.flatten(1).norm(dim=1)
    return worth.topk(count).indices.sort().values


def copy_norm(into, norm, kept):
    for name in ("weight", "bias", "running_mean", "running_var"):
        getattr(into, name).copy_(getattr(norm, name)[kept])


def narrow(into, block, upconv_into, upconv):
    """Copies a deepest block and the transposed convolution that reads it into narrower ones."""
    width = into.conv1.out_channels
    inner = most_important(block.bn1, block.conv2.weight.transpose(0, 1), width)
    outer = most_important(block.bn2, upconv.weight, width)
    into.conv1.weight.copy_(block.conv1.weight[inner])
    into.conv2.weight.copy_(block.conv2.weight[outer][:, inner])
    copy_norm(into.bn1, block.bn1, inner)
    copy_norm(into.bn2, block.bn2, outer)
    upconv_into.weight.copy_(upconv.weight[outer])
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
def grown(net, narrowed, added):
    """`net` with its deepest level narrowed to `narrowed` channels and a level of `added` below it."""
    levels = net.levels
    result = model.UNet((*net.widths[:-1], narrowed, added))
    for i in range(1, levels):  # encoder: the same names; decoder: named from the bottom, so one further
        getattr(result, f"down{i}").load_state_dict(getattr(net, f"down{i}").state_dict())
        if i > 1:
            getattr(result, f"up{i + 1}").load_state_dict(getattr(net, f"up{i}").state_dict())
    for name in ("conv1", "bn1", "conv2", "bn2"):
        getattr(result.up2, name).load_state_dict(getattr(net.up1, name).state_dict())
    deepest = getattr(result, f"down{levels}")
    narrow(deepest, getattr(net, f"down{levels}"), result.up2.upconv, net.up1.upconv)
    pass_on(result.up1, deepest.bn2)
    result.out.load_state_dict(net.out.state_dict())
    return result.eval()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--narrow", type=int, required=True, help="channels that the deepest level keeps")
    parser.add_argument("--add", type=int, required=True, help="channels of the level below it")
    parser.add_argument("--seed", type=int, default=1, help="of the new level's weights")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    net, facts = model.load_model(args.model)
    result = grown(net, args.narrow, args.add)
    model.save_model(args.out, result.state_dict(), {**facts, "widths": " ".join(map(str, result.widths))})
    print(f"{args.out}: levels of {result.widths}")


if __name__ == "__main__":
    main()
