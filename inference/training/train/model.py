# SPDX-License-Identifier: Apache-2.0
"""The U-Net that the C++ engines run (inference/model/unet.h names the same tensors), with heads for training alone, and its model file."""
import copy
import functools
import json
import struct

import torch
import torch.nn.utils.fusion
from torch import nn
from torch.nn import functional as F

from train.depthwise import depthwise


def mobile(*stages):
    """The bottlenecks of one level: (kernel, expansion, channels, how many) of each stage -> (kernel, expansion, channels) of each block."""
    return tuple((kernel, expansion, channels) for kernel, expansion, channels, count in stages for _ in range(count))


# The encoder by level, then the decoder's widths by level. A level is a width, of two 3x3 convolutions (the first one above bottlenecks) after max-pooling, or
# bottlenecks: the encoders with those are EfficientNet-Lite 2 and the first five stages of 0, so that they can begin with weights that know a thousand kinds of things. So
# many levels that the deepest sees the whole picture.
SHAPES = {
    "portrait": (
        (
            16,
            mobile((3, 1, 16, 1)),
            mobile((3, 6, 24, 3)),
            mobile((5, 6, 48, 3)),
            mobile((3, 6, 88, 4), (5, 6, 120, 4)),
            mobile((5, 6, 208, 5), (3, 6, 352, 1)),
            128,
        ),
        (16, 32, 64, 96, 128, 192),
    ),
    "portrait-lite": (
        (8, mobile((3, 1, 16, 1)), mobile((3, 6, 24, 2)), mobile((5, 6, 40, 2)), mobile((3, 6, 80, 3), (5, 6, 112, 3)), 48),
        (8, 16, 24, 32, 48),
    ),
    "tiny": ((4, 6, 8), (4, 6)),
    "tiny-mobile": ((4, mobile((3, 1, 6, 1)), mobile((5, 2, 8, 2)), 8), (4, 6, 8)),
}
STEM = 32
DROPPED = 0.1  # share of the deepest bottlenecks that are left out in training (Huang et al., "Deep Networks with Stochastic Depth", 2016); of those above, by their depth
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BN_EPS = 1e-5


def widths(encoder):
    """Channels that each level gives to the next one and to the decoder."""
    return tuple(level if isinstance(level, int) else level[-1][2] for level in encoder)


def normed(module, number, conv):
    """Gives `module` a convolution and the batch norm behind it, under the names that model files have."""
    setattr(module, f"conv{number}", conv)
    setattr(module, f"bn{number}", nn.BatchNorm2d(conv.out_channels, eps=BN_EPS))


class Convs(nn.Module):
    """3x3 convolutions, each with batch norm and ReLU."""

    def __init__(self, inputs, outputs, count=2, stride=1):
        super().__init__()
        for i in range(count):
            normed(self, i + 1, nn.Conv2d(outputs if i else inputs, outputs, 3, stride=stride, padding=1, bias=False))
        self.count = count

    def forward(self, x):
        for i in range(1, self.count + 1):
            x = F.relu_(getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(x)))
        return x


class Bottleneck(nn.Module):
    """Sandler et al., "MobileNetV2", 2018, as EfficientNet-Lite has it, with ReLU: 1x1 to more channels (unless the expansion is 1), depthwise, 1x1 to few, and what came in
    added where that fits."""

    def __init__(self, inputs, kernel, expansion, outputs, stride, dropped=0.0):
        super().__init__()
        self.dropped = dropped
        wide = inputs * expansion
        if expansion > 1:
            normed(self, 1, nn.Conv2d(inputs, wide, 1, bias=False))
        normed(self, 2, nn.Conv2d(wide, wide, kernel, stride=stride, padding=kernel // 2, groups=wide, bias=False))
        normed(self, 3, nn.Conv2d(wide, outputs, 1, bias=False))
        self.expands, self.adds = expansion > 1, stride == 1 and inputs == outputs

    def forward(self, x):
        y = F.relu_(self.bn1(self.conv1(x))) if self.expands else x
        y = F.relu_(self.bn2(depthwise(self.conv2, y)))
        y = self.bn3(self.conv3(y))
        if not self.adds:
            return y
        if self.training and self.dropped:
            y = y * (torch.rand(len(y), 1, 1, 1, device=y.device) >= self.dropped).to(y.dtype) / (1 - self.dropped)
        return x + y


class Mobile(Convs):
    """A level of bottlenecks, the first of which halves its input. The uppermost one's input is the picture, halved by a 3x3 convolution, the stem."""

    def __init__(self, inputs, blocks, stem, dropped):
        super().__init__(inputs, STEM, count=1 if stem else 0, stride=2)
        channels = STEM if stem else inputs
        for i, (kernel, expansion, outputs) in enumerate(blocks):
            setattr(self, f"block{i + 1}", Bottleneck(channels, kernel, expansion, outputs, 1 if stem or i else 2, dropped))
            channels = outputs
        self.blocks = len(blocks)

    def forward(self, x):
        x = super().forward(x)
        for i in range(self.blocks):
            x = getattr(self, f"block{i + 1}")(x)
        return x


class Up(Convs):
    def __init__(self, inputs, skipped, outputs):
        super().__init__(skipped + outputs, outputs)
        self.upconv = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)

    def forward(self, x, skip):
        return super().forward(torch.cat([skip, self.upconv(x)], 1))


class UNet(nn.Module):
    """RGB [n, 3, H, W], normalised, H and W multiples of `multiple` -> logits [n, 1, H, W].

    `aux` heads read the decoder at 1/16, 1/8 and 1/4 of the resolution (where there are such levels) and are left out of model files.
    """

    def __init__(self, encoder, decoder=None):
        super().__init__()
        self.encoder, self.levels = tuple(encoder), len(encoder)
        self.decoder = tuple(decoder or encoder[:-1])
        self.multiple = 1 << (self.levels - 1)
        self.mobile = isinstance(encoder[1], tuple)
        self.widths = widths(encoder)
        for i, level in enumerate(encoder):
            below = self.widths[i - 1] if i and not (self.mobile and i == 1) else 3
            made = Convs(below, level, 1 if self.mobile and i == 0 else 2) if isinstance(level, int) else Mobile(below, level, i == 1, DROPPED * i / self.levels)
            setattr(self, f"down{i + 1}", made)
        for i in range(1, self.levels):
            at = self.levels - i - 1
            setattr(self, f"up{i}", Up(self.widths[-1] if i == 1 else self.decoder[at + 1], self.widths[at], self.decoder[at]))
        self.out = nn.Conv2d(self.decoder[0], 1, 1)
        self.aux_levels = [level for level in (4, 3, 2) if level < self.levels - 1]
        self.aux = nn.ModuleList(nn.Conv2d(self.decoder[level], 1, 1) for level in self.aux_levels)
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and module.out_channels > 1:
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.constant_(self.out.bias, -1.0)  # most pixels are background
        for head in self.aux:  # which a model file does not hold: at first they must not disturb what the others know
            nn.init.zeros_(head.weight)

    def forward(self, x, with_aux=False):
        picture, skips, aux = x, [], []
        for level in range(self.levels):
            down = getattr(self, f"down{level + 1}")
            if isinstance(down, Mobile):
                x = picture if level == 1 else x
            elif level:
                x = F.max_pool2d(x, 2)
            x = down(x)
            skips.append(x)
        for level in range(self.levels - 2, -1, -1):
            x = getattr(self, f"up{self.levels - 1 - level}")(x, skips[level])
            if with_aux and level in self.aux_levels:
                aux.append(self.aux[self.aux_levels.index(level)](x))
        logits = self.out(x)
        return (logits, aux) if with_aux else logits


@functools.lru_cache
def by_channel(values, device, dtype):
    return torch.tensor(values, device=device, dtype=dtype).view(1, -1, 1, 1)


def normalise(rgb):
    """RGB in 0 to 1 -> the network's input."""
    return (rgb - by_channel(MEAN, rgb.device, rgb.dtype)) / by_channel(DEVIATION, rgb.device, rgb.dtype)


@torch.no_grad()
def gflops(net, height, width):
    """Billions of floating-point operations for one picture, a multiply-add counted as two, as UNet::flops counts them."""
    net, total = copy.deepcopy(net).eval(), 0

    def count(conv, inputs, output):
        nonlocal total
        pixels = inputs[0] if isinstance(conv, nn.ConvTranspose2d) else output
        total += 2 * conv.weight.numel() * pixels.shape[2] * pixels.shape[3]

    convs = [module for name, module in net.named_modules() if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and not name.startswith("aux")]
    hooks = [conv.register_forward_hook(count) for conv in convs]
    side = net.multiple
    net(torch.zeros(1, 3, side, side))
    for hook in hooks:
        hook.remove()
    return total * height * width / side**2 / 1e9


def folded(net):
    """`net` (in evaluation mode) with its batch norms folded into the convolutions before them: the same mattes, sooner."""
    for block in list(net.modules()):
        for conv, norm in [(f"conv{i}", f"bn{i}") for i in (1, 2, 3)]:
            if hasattr(block, norm):
                setattr(block, conv, nn.utils.fusion.fuse_conv_bn_eval(getattr(block, conv), getattr(block, norm)))
                setattr(block, norm, nn.Identity())
    return net.requires_grad_(False)


def exported(state):
    """The tensors of a state dict that belong in a model file."""
    return {k: v for k, v in state.items() if not k.startswith("aux.") and not k.endswith("num_batches_tracked")}


LARGEST_VARIANCE = 1 << 14  # a quarter of what F16 holds


def within_half(state):
    """`state`, where channels of a convolution that vary too much for F16 are made smaller, each by a power of two, which the batch norm behind them undoes: the same network."""
    state = dict(state)
    for name in [n for n in state if n.endswith(".running_var")]:
        block, norm, _ = name.rsplit(".", 2)
        conv = f"{block}.conv{norm[-1]}"
        shrink = torch.exp2(-torch.ceil(torch.log2((state[name] / LARGEST_VARIANCE).clamp_min(1)) / 2))
        state[name] = state[name] * shrink.square()
        state[f"{block}.{norm}.running_mean"] = state[f"{block}.{norm}.running_mean"] * shrink
        state[f"{conv}.weight"] = state[f"{conv}.weight"] * shrink.view(-1, 1, 1, 1)
    return state


def shape(state):
    """(encoder, decoder) as the tensors of a state dict have them, in the words of SHAPES."""
    encoder, decoder = [], []
    while any(name.startswith(f"down{len(encoder) + 1}.") for name in state):
        level, blocks = f"down{len(encoder) + 1}", []
        while f"{level}.block{len(blocks) + 1}.conv2.weight" in state:
            block = f"{level}.block{len(blocks) + 1}"
            depthwise, wide = state[f"{block}.conv2.weight"], state.get(f"{block}.conv1.weight")
            expansion = 1 if wide is None else wide.shape[0] // wide.shape[1]
            blocks.append((depthwise.shape[2], expansion, state[f"{block}.conv3.weight"].shape[0]))
        encoder.append(tuple(blocks) or state[f"{level}.conv1.weight"].shape[0])
        if len(encoder) > 1:
            decoder.insert(0, state[f"up{len(encoder) - 1}.conv1.weight"].shape[0])
    return tuple(encoder), tuple(decoder)


def save_model(path, state, metadata):
    """Writes `state` as a safetensors file of F16 values: u64 header size, JSON header, data. A ValueError says which tensor F16 can't hold."""
    said = {key: str(value) for key, value in metadata.items() if key != "known_answer"}  # of other weights: answer.py says it anew
    header = {"__metadata__": said}
    data = bytearray()
    for name, tensor in within_half(exported(state)).items():
        half = tensor.detach().cpu().half()
        if not torch.isfinite(half).all():
            raise ValueError(f"{name} holds NaN, or numbers beyond F16")
        raw = half.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def load_model(path):
    """(UNet in evaluation mode, metadata) of a safetensors file of F16 or F32 values, of the shapes that SHAPES can say; the engines take more. Convolutions before a batch
    norm may carry a bias."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = bytearray(file.read())
    metadata = header.pop("__metadata__", {})
    state = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        kind = {"F16": torch.float16, "F32": torch.float32}[entry["dtype"]]
        state[name] = torch.frombuffer(data[begin:end], dtype=kind).reshape(entry["shape"]).float()
    for name in [n for n in state if n.endswith(("conv1.bias", "conv2.bias", "conv3.bias"))]:
        # Batch norm subtracts the mean of (conv + bias): the bias moves into the running mean.
        state[name.replace("conv", "bn").replace(".bias", ".running_mean")] -= state.pop(name)
    net = UNet(*shape(state))
    missing, unexpected = net.load_state_dict(state, strict=False)
    strangers = unexpected + [m for m in missing if not m.startswith("aux.") and not m.endswith("num_batches_tracked")]
    if strangers:
        raise ValueError(f"{path} is not a U-Net of ours: {strangers[:4]}")
    return net.eval(), metadata
