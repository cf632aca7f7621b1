# SPDX-License-Identifier: Apache-2.0
"""The U-Net that the C++ engines run (inference/model/unet.h names the same tensors), with heads for training alone, and its model file."""
import json
import struct

import torch
import torch.nn.utils.fusion
from torch import nn
from torch.nn import functional as F

# Widths by level. So many levels that the deepest sees the whole picture. 54 GFLOP at 512x320; 2.4 GFLOP at 256x128.
WIDTHS = {
    "portrait": (32, 64, 128, 192, 256, 192, 112),
    "portrait-lite": (16, 32, 64, 64, 80, 56, 48),
    "tiny": (4, 6, 8),
}
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BN_EPS = 1e-5


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs, eps=BN_EPS)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs, eps=BN_EPS)

    def forward(self, x):
        x = F.relu_(self.bn1(self.conv1(x)))
        return F.relu_(self.bn2(self.conv2(x)))


class Up(Block):
    def __init__(self, inputs, outputs):
        super().__init__(2 * outputs, outputs)
        self.upconv = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)

    def forward(self, x, skip):
        return super().forward(torch.cat([skip, self.upconv(x)], 1))


class UNet(nn.Module):
    """RGB [n, 3, H, W], normalised, H and W multiples of `multiple` -> logits [n, 1, H, W].

    `aux` heads read the decoder at 1/16, 1/8 and 1/4 of the resolution (where there are such levels) and are left out of model files.
    """

    def __init__(self, widths):
        super().__init__()
        self.widths = tuple(widths)
        self.levels = len(widths)
        self.multiple = 1 << (self.levels - 1)
        for i, width in enumerate(widths):
            setattr(self, f"down{i + 1}", Block(widths[i - 1] if i else 3, width))
        for i in range(1, self.levels):
            setattr(self, f"up{i}", Up(widths[-i], widths[-i - 1]))
        self.out = nn.Conv2d(widths[0], 1, 1)
        self.aux_levels = [level for level in (4, 3, 2) if level < self.levels - 1]
        self.aux = nn.ModuleList(nn.Conv2d(widths[level], 1, 1) for level in self.aux_levels)
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and module.out_channels > 1:
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.constant_(self.out.bias, -1.0)  # most pixels are background
        for head in self.aux:  # which a model file does not hold: at first they must not disturb what the others know
            nn.init.zeros_(head.weight)

    def forward(self, x, with_aux=False):
        skips, aux = [], []
        for level in range(self.levels):
            x = getattr(self, f"down{level + 1}")(x)
            if level + 1 < self.levels:
                skips.append(x)
                x = F.max_pool2d(x, 2)
        for level in range(self.levels - 2, -1, -1):
            x = getattr(self, f"up{self.levels - 1 - level}")(x, skips[level])
            if with_aux and level in self.aux_levels:
                aux.append(self.aux[self.aux_levels.index(level)](x))
        logits = self.out(x)
        return (logits, aux) if with_aux else logits


def normalise(rgb):
    """RGB in 0 to 1 -> the network's input."""
    mean = torch.tensor(MEAN, device=rgb.device, dtype=rgb.dtype).view(1, 3, 1, 1)
    deviation = torch.tensor(DEVIATION, device=rgb.device, dtype=rgb.dtype).view(1, 3, 1, 1)
    return (rgb - mean) / deviation


def gflops(widths, height, width):
    """Billions of floating-point operations for one picture, a multiply-add counted as two, as UNet::flops counts them."""
    total = 0
    for level, channels in enumerate(widths):
        pixels = (height >> level) * (width >> level)
        below = widths[level - 1] if level else 3
        total += 9 * pixels * channels * (below + channels)
        if level + 1 < len(widths):
            total += pixels * channels * (widths[level + 1] + 9 * 3 * channels)
    return 2 * (total + height * width * widths[0]) / 1e9


def folded(net):
    """`net` (in evaluation mode) with its batch norms folded into the convolutions before them: the same mattes, sooner."""
    for block in [module for module in net.modules() if isinstance(module, Block)]:
        for conv, norm in (("conv1", "bn1"), ("conv2", "bn2")):
            setattr(block, conv, nn.utils.fusion.fuse_conv_bn_eval(getattr(block, conv), getattr(block, norm)))
            setattr(block, norm, nn.Identity())
    return net.requires_grad_(False)


def exported(state):
    """The tensors of a state dict that belong in a model file."""
    return {k: v for k, v in state.items() if not k.startswith("aux.") and not k.endswith("num_batches_tracked")}


def widths(state):
    """Of the levels, as the tensors of a state dict have them."""
    found = []
    while f"down{len(found) + 1}.conv1.weight" in state:
        found.append(state[f"down{len(found) + 1}.conv1.weight"].shape[0])
    return found


def save_model(path, state, metadata):
    """Writes `state` as a safetensors file of F16 values: u64 header size, JSON header, data."""
    header = {"__metadata__": {key: str(value) for key, value in metadata.items()}}
    data = bytearray()
    for name, tensor in exported(state).items():
        raw = tensor.detach().cpu().half().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def load_model(path):
    """(UNet in evaluation mode, metadata) of a safetensors file of F16 or F32 values; convolutions before a batch norm may carry a bias."""
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
    for name in [n for n in state if n.endswith(("conv1.bias", "conv2.bias"))]:
        # Batch norm subtracts the mean of (conv + bias): the bias moves into the running mean.
        state[name.replace("conv", "bn").replace(".bias", ".running_mean")] -= state.pop(name)
    net = UNet(widths(state))
    missing, unexpected = net.load_state_dict(state, strict=False)
    strangers = unexpected + [m for m in missing if not m.startswith("aux.") and not m.endswith("num_batches_tracked")]
    if strangers:
        raise ValueError(f"{path} is not a U-Net of ours: {strangers[:4]}")
    return net.eval(), metadata
