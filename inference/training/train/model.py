# SPDX-License-Identifier: Apache-2.0
"""The U-Net that the C++ engines run (inference/model/unet.h has the same names of tensors), with
auxiliary heads for training, and its model file."""

import copy
import functools
from collections.abc import Mapping, Sequence

import torch
import torch.nn.utils.fusion
from torch import Tensor, nn
from torch.nn import functional as F

from train import safetensors_file
from train.depthwise import depthwise_conv

# A block of a level with bottlenecks: (kernel, expansion, channels).
Blocks = tuple[tuple[int, int, int], ...]
# A level of the encoder: the channels of a plain level, or the blocks of one with bottlenecks.
Level = int | Blocks
# Encoder and decoder by level, and which levels of the decoder are recurrent.
Architecture = tuple[tuple[Level, ...], tuple[int, ...], tuple[int, ...]]
# The hidden state [n, channels / 2, H, W] of each recurrent level.
State = dict[int, Tensor]


def bottlenecks(*stages: tuple[int, int, int, int]) -> Blocks:
    """The blocks of a level by stages (kernel, expansion, channels, number of blocks)."""
    return tuple(
        (kernel, expansion, channels)
        for kernel, expansion, channels, count in stages
        for _ in range(count)
    )


# Encoder, decoder and recurrent levels of the decoder, counted from full size. A plain level has
# two 3x3 convolutions (the first level above bottlenecks has one) after max-pooling. The encoders
# with bottlenecks are EfficientNet-Lite 2 and the first five stages of EfficientNet-Lite 0, so that
# training can start from weights learnt on ImageNet. There are so many levels that the deepest sees
# the whole picture.
ARCHITECTURES: dict[str, Architecture] = {
    "portrait": (
        (
            16,
            bottlenecks((3, 1, 16, 1)),
            bottlenecks((3, 6, 24, 3)),
            bottlenecks((5, 6, 48, 3)),
            bottlenecks((3, 6, 88, 4), (5, 6, 120, 4)),
            bottlenecks((5, 6, 208, 5), (3, 6, 352, 1)),
            128,
        ),
        (16, 32, 64, 96, 128, 192),
        (3, 4, 5),
    ),
    "portrait-lite": (
        (
            8,
            bottlenecks((3, 1, 16, 1)),
            bottlenecks((3, 6, 24, 2)),
            bottlenecks((5, 6, 40, 2)),
            bottlenecks((3, 6, 80, 3), (5, 6, 112, 3)),
            48,
        ),
        (8, 16, 24, 32, 48),
        (2, 3, 4),
    ),
    "tiny": ((4, 6, 8), (4, 6), ()),
    "tiny-mobile": ((4, bottlenecks((3, 1, 6, 1)), bottlenecks((5, 2, 8, 2)), 8), (4, 6, 8), ()),
    "tiny-recurrent": ((4, 6, 8), (4, 6), (1,)),
}
STEM_CHANNELS = 32
# Probability that training skips one of the deepest bottlenecks (Huang et al., "Deep Networks with
# Stochastic Depth", 2016); less above, in proportion to the depth.
STOCHASTIC_DEPTH_RATE = 0.1
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, RGB
BN_EPS = 1e-5
MAX_VARIANCE = 1 << 14  # of a channel in a model file: a quarter of what F16 holds


def level_widths(encoder: Sequence[Level]) -> tuple[int, ...]:
    """Channels that each level passes to the next one and to the decoder."""
    return tuple(level if isinstance(level, int) else level[-1][2] for level in encoder)


def add_conv_norm(module: nn.Module, number: int, conv: nn.Conv2d) -> None:
    """Gives `module` a convolution and the batch norm behind it, under the names of model files."""
    setattr(module, f"conv{number}", conv)
    setattr(module, f"bn{number}", nn.BatchNorm2d(conv.out_channels, eps=BN_EPS))


class ConvBlock(nn.Module):
    """3x3 convolutions, each with batch norm and ReLU."""

    def __init__(self, inputs: int, outputs: int, count: int = 2, stride: int = 1) -> None:
        super().__init__()
        for i in range(count):
            channels = outputs if i else inputs
            conv = nn.Conv2d(channels, outputs, 3, stride=stride, padding=1, bias=False)
            add_conv_norm(self, i + 1, conv)
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        """[n, inputs, H, W] -> [n, outputs, H, W], or a half of each side with a stride of 2."""
        for i in range(1, self.count + 1):
            x = F.relu_(getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(x)))
        return x


class Bottleneck(nn.Module):
    """An inverted residual block (Sandler et al., "MobileNetV2", 2018) as in EfficientNet-Lite,
    with ReLU: 1x1 expansion (unless it is 1), depthwise convolution, 1x1 projection, and a residual
    connection where the shapes match."""

    def __init__(
        self,
        inputs: int,
        kernel: int,
        expansion: int,
        outputs: int,
        stride: int,
        drop_rate: float = 0.0,
    ) -> None:
        super().__init__()
        self.drop_rate = drop_rate
        wide = inputs * expansion
        if expansion > 1:
            add_conv_norm(self, 1, nn.Conv2d(inputs, wide, 1, bias=False))
        padding = kernel // 2
        depthwise = nn.Conv2d(
            wide, wide, kernel, stride=stride, padding=padding, groups=wide, bias=False
        )
        add_conv_norm(self, 2, depthwise)
        add_conv_norm(self, 3, nn.Conv2d(wide, outputs, 1, bias=False))
        self.expands, self.residual = expansion > 1, stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """[n, inputs, H, W] -> [n, outputs, H / stride, W / stride]."""
        y = F.relu_(self.bn1(self.conv1(x))) if self.expands else x
        y = F.relu_(self.bn2(depthwise_conv(self.conv2, y)))
        y = self.bn3(self.conv3(y))
        if not self.residual:
            return y
        if self.training and self.drop_rate:
            kept = torch.rand(len(y), 1, 1, 1, device=y.device) >= self.drop_rate
            y = y * kept.to(y.dtype) / (1 - self.drop_rate)
        return x + y


class BottleneckLevel(ConvBlock):
    """A level of bottlenecks, the first of which halves its input. The input of the uppermost one
    is the picture, which a 3x3 convolution, the stem, halves."""

    def __init__(self, inputs: int, blocks: Blocks, stem: bool, drop_rate: float) -> None:
        super().__init__(inputs, STEM_CHANNELS, count=1 if stem else 0, stride=2)
        channels = STEM_CHANNELS if stem else inputs
        for i, (kernel, expansion, outputs) in enumerate(blocks):
            stride = 1 if stem or i else 2
            block = Bottleneck(channels, kernel, expansion, outputs, stride, drop_rate)
            setattr(self, f"block{i + 1}", block)
            channels = outputs
        self.blocks = len(blocks)

    def forward(self, x: Tensor) -> Tensor:
        """[n, inputs, H, W] -> [n, channels of the last block, H / 2, W / 2]."""
        x = super().forward(x)
        for i in range(self.blocks):
            x = getattr(self, f"block{i + 1}")(x)
        return x


class UpBlock(ConvBlock):
    """A level of the decoder: transposed convolution, skip connection, convolutions."""

    def __init__(self, inputs: int, skipped: int, outputs: int) -> None:
        super().__init__(skipped + outputs, outputs)
        self.upconv = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        """[n, inputs, H, W] and [n, skipped, 2H, 2W] -> [n, outputs, 2H, 2W]."""
        return super().forward(torch.cat([skip, self.upconv(x)], 1))


class ConvGRU(nn.Module):
    """A convolutional gated recurrent unit (Ballas et al., "Delving Deeper into Convolutional
    Networks for Learning Video Representations", 2016) on the second half of the channels, as in
    Lin et al., "Robust High-Resolution Video Matting with Temporal Guidance", 2021, but with a
    residual connection: a cell that always answers zero changes nothing.

    r, z = sigmoid(gates([b, h])), c = tanh(candidate([b, r h])), h' = (1 - z) h + z c; the second
    half of the output is b + h'."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gates = nn.Conv2d(channels, channels, 3, padding=1)
        self.candidate = nn.Conv2d(channels, channels // 2, 3, padding=1)

    def reset(self) -> None:
        """Begins as a cell that answers zero and keeps its state for some frames."""
        nn.init.zeros_(self.candidate.weight)
        nn.init.zeros_(self.candidate.bias)
        nn.init.zeros_(self.gates.bias)
        nn.init.constant_(self.gates.bias[self.gates.out_channels // 2 :], -1.0)

    def forward(self, x: Tensor, frames: int, state: Tensor | None) -> tuple[Tensor, Tensor]:
        """x [n * frames, channels, H, W], the frames of a sequence one after the other, and the
        state [n, channels / 2, H, W] or None for zero -> the output of x's shape and the state
        after the last frame."""
        a, b = x.chunk(2, 1)
        sequence = b.unflatten(0, (-1, frames))
        h = torch.zeros_like(sequence[:, 0]) if state is None else state
        states = []
        for t in range(frames):
            now = sequence[:, t]
            r, z = torch.sigmoid(self.gates(torch.cat([now, h], 1))).chunk(2, 1)
            c = torch.tanh(self.candidate(torch.cat([now, r * h], 1)))
            h = torch.lerp(h, c, z)
            states.append(h)
        return torch.cat([a, b + torch.stack(states, 1).flatten(0, 1)], 1), h


class UNet(nn.Module):
    """Normalised RGB [n, 3, H, W], H and W multiples of `multiple`, -> logits [n, 1, H, W].

    Auxiliary heads read the decoder at 1/16, 1/8 and 1/4 of the resolution, where there are such
    levels. Model files do not hold them."""

    def __init__(
        self,
        encoder: Sequence[Level],
        decoder: Sequence[int] | None = None,
        recurrent: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.encoder, self.levels = tuple(encoder), len(encoder)
        self.decoder = tuple(decoder or encoder[:-1])
        self.recurrent = tuple(recurrent)
        self.multiple = 1 << (self.levels - 1)
        self.has_bottlenecks = isinstance(encoder[1], tuple)
        self.widths = level_widths(encoder)
        for i, level in enumerate(encoder):
            inputs = self.widths[i - 1] if i and not (self.has_bottlenecks and i == 1) else 3
            if isinstance(level, int):
                block = ConvBlock(inputs, level, 1 if self.has_bottlenecks and i == 0 else 2)
            else:
                drop_rate = STOCHASTIC_DEPTH_RATE * i / self.levels
                block = BottleneckLevel(inputs, level, i == 1, drop_rate)
            setattr(self, f"down{i + 1}", block)
        for i in range(1, self.levels):
            level = self.levels - i - 1
            inputs = self.widths[-1] if i == 1 else self.decoder[level + 1]
            block = UpBlock(inputs, self.widths[level], self.decoder[level])
            if level in self.recurrent:
                block.gru = ConvGRU(self.decoder[level])
            setattr(self, f"up{i}", block)
        self.out = nn.Conv2d(self.decoder[0], 1, 1)
        self.aux_levels = [level for level in (4, 3, 2) if level < self.levels - 1]
        self.aux = nn.ModuleList(nn.Conv2d(self.decoder[level], 1, 1) for level in self.aux_levels)
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and module.out_channels > 1:
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        for module in self.modules():
            if isinstance(module, ConvGRU):
                module.reset()
        nn.init.constant_(self.out.bias, -1.0)  # most pixels are background
        # A model file does not hold the auxiliary heads: at first they must not disturb the rest.
        for head in self.aux:
            nn.init.zeros_(head.weight)

    def forward(
        self, x: Tensor, with_aux: bool = False, frames: int = 1, state: State | None = None
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """The logits, and those of the auxiliary heads `with_aux`.

        x holds sequences of `frames` pictures, one sequence after the other. They go on from
        `state`, which then holds the states after their last frames; {} is that of a new
        sequence."""
        picture, skips, aux = x, [], []
        for level in range(self.levels):
            down = getattr(self, f"down{level + 1}")
            if isinstance(down, BottleneckLevel):
                x = picture if level == 1 else x
            elif level:
                x = F.max_pool2d(x, 2)
            x = down(x)
            skips.append(x)
        for level in range(self.levels - 2, -1, -1):
            up = getattr(self, f"up{self.levels - 1 - level}")
            x = up(x, skips[level])
            if level in self.recurrent:
                before = state.get(level) if state is not None else None
                x, after = up.gru(x, frames, before)
                if state is not None:
                    state[level] = after
            if with_aux and level in self.aux_levels:
                aux.append(self.aux[self.aux_levels.index(level)](x))
        logits = self.out(x)
        return (logits, aux) if with_aux else logits


@functools.lru_cache
def channel_constant(values: tuple[float, ...], device: torch.device, dtype: torch.dtype) -> Tensor:
    """[1, channels, 1, 1]."""
    return torch.tensor(values, device=device, dtype=dtype).view(1, -1, 1, 1)


def normalise(rgb: Tensor) -> Tensor:
    """RGB in 0 to 1 [n, 3, H, W] -> the network's input."""
    mean, std = (channel_constant(values, rgb.device, rgb.dtype) for values in (MEAN, STD))
    return (rgb - mean) / std


@torch.no_grad()
def gflops(net: UNet, height: int, width: int) -> float:
    """Billions of floating-point operations for one picture, a multiply-add counted as two, as
    UNet::flops counts them."""
    net, total = copy.deepcopy(net).eval(), 0

    def count(conv: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        nonlocal total
        pixels = inputs[0] if isinstance(conv, nn.ConvTranspose2d) else output
        total += 2 * conv.weight.numel() * pixels.shape[2] * pixels.shape[3]

    convs = [
        module
        for name, module in net.named_modules()
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and not name.startswith("aux")
    ]
    hooks = [conv.register_forward_hook(count) for conv in convs]
    side = net.multiple
    net(torch.zeros(1, 3, side, side))
    for hook in hooks:
        hook.remove()
    return total * height * width / side**2 / 1e9


def fold_batch_norm(net: UNet) -> UNet:
    """`net`, in evaluation mode, with each batch norm folded into the convolution before it."""
    for block in list(net.modules()):
        for conv, norm in [(f"conv{i}", f"bn{i}") for i in (1, 2, 3)]:
            if hasattr(block, norm):
                fused = nn.utils.fusion.fuse_conv_bn_eval(
                    getattr(block, conv), getattr(block, norm)
                )
                setattr(block, conv, fused)
                setattr(block, norm, nn.Identity())
    return net.requires_grad_(False)


def inference_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a state dict that belong in a model file."""
    return {
        name: tensor
        for name, tensor in state.items()
        if not name.startswith("aux.") and not name.endswith("num_batches_tracked")
    }


def rescale_for_half(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`state` with channels that vary too much for F16 scaled down, each by a power of two, which
    the batch norm behind them undoes: the same network."""
    state = dict(state)
    for name in [n for n in state if n.endswith(".running_var")]:
        block, norm, _ = name.rsplit(".", 2)
        conv = f"{block}.conv{norm[-1]}"
        excess = (state[name] / MAX_VARIANCE).clamp_min(1)
        factor = torch.exp2(-torch.ceil(torch.log2(excess) / 2))
        state[name] = state[name] * factor.square()
        mean = f"{block}.{norm}.running_mean"
        state[mean] = state[mean] * factor
        state[f"{conv}.weight"] = state[f"{conv}.weight"] * factor.view(-1, 1, 1, 1)
    return state


def architecture(state: Mapping[str, Tensor]) -> Architecture:
    """The architecture, as in ARCHITECTURES, of a state dict."""
    encoder, decoder = [], []
    while any(name.startswith(f"down{len(encoder) + 1}.") for name in state):
        level, blocks = f"down{len(encoder) + 1}", []
        while f"{level}.block{len(blocks) + 1}.conv2.weight" in state:
            block = f"{level}.block{len(blocks) + 1}"
            depthwise = state[f"{block}.conv2.weight"]
            expand = state.get(f"{block}.conv1.weight")
            expansion = 1 if expand is None else expand.shape[0] // expand.shape[1]
            outputs = state[f"{block}.conv3.weight"].shape[0]
            blocks.append((depthwise.shape[2], expansion, outputs))
        encoder.append(tuple(blocks) or state[f"{level}.conv1.weight"].shape[0])
        if len(encoder) > 1:
            decoder.insert(0, state[f"up{len(encoder) - 1}.conv1.weight"].shape[0])
    recurrent = (
        level
        for level in range(len(decoder))
        if f"up{len(decoder) - level}.gru.gates.weight" in state
    )
    return tuple(encoder), tuple(decoder), tuple(recurrent)


def save_model(path: str, state: Mapping[str, Tensor], metadata: Mapping[str, object]) -> None:
    """Writes `state` as a safetensors file of F16 values.

    Drops the metadata `known_answer`, which is of other weights; answer.py writes it again. Raises
    ValueError with the name of a tensor that F16 cannot hold."""
    text = {key: str(value) for key, value in metadata.items() if key != "known_answer"}
    entries = []
    for name, tensor in rescale_for_half(inference_state(state)).items():
        half = tensor.half()
        if not torch.isfinite(half).all():
            raise ValueError(f"{name} holds NaN, or numbers beyond F16")
        entries.append(safetensors_file.tensor_entry(name, half))
    safetensors_file.write_tensors(path, entries, text)


def load_model(path: str, recurrent: Sequence[int] = ()) -> tuple[UNet, dict[str, str]]:
    """The network of a safetensors file of F16 or F32 values, in evaluation mode, and the metadata.
    `recurrent` levels that the file does not have get new cells.

    The network must be of a kind that ARCHITECTURES can describe; the engines take more.
    Convolutions before a batch norm may have a bias."""
    header, data = safetensors_file.read(path)
    metadata = header.pop("__metadata__", {})
    state = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = {"F16": torch.float16, "F32": torch.float32}[entry["dtype"]]
        tensor = torch.frombuffer(data[begin:end], dtype=dtype)
        state[name] = tensor.reshape(entry["shape"]).float()
    for name in [n for n in state if n.endswith(("conv1.bias", "conv2.bias", "conv3.bias"))]:
        # Batch norm subtracts the mean of conv + bias: the bias goes into the running mean.
        mean = name.replace("conv", "bn").replace(".bias", ".running_mean")
        state[mean] -= state.pop(name)
    encoder, decoder, found = architecture(state)
    net = UNet(encoder, decoder, sorted({*found, *recurrent}))
    missing, unexpected = net.load_state_dict(state, strict=False)
    missing = [name for name in missing if not recurrent or ".gru." not in name]
    wrong = unexpected + list(inference_state(dict.fromkeys(missing)))
    if wrong:
        raise ValueError(f"{path} is not a U-Net of ours: {wrong[:4]}")
    return net.eval(), metadata
