# SPDX-License-Identifier: Apache-2.0
"""The reference for the GPU benchmarks: the same layers and networks in PyTorch, fp16, channels
last, random data, medians of CUDA events.

    gpu_torch.py [eager] [layers] [fp32] [bottlenecks]
    gpu_torch.py compile INDEX

layers: cuDNN's time of each 3x3 layer of a U-Net of base 64, at batch 4. eager: whole networks,
eager and as a CUDA graph. fp32: the first network in single precision, no TF32. bottlenecks: the
trainer's networks, whose encoders hold bottlenecks, at 512x320, batch norm folded. compile: network
INDEX through torch.compile, max-autotune.
"""

import functools
import statistics
import sys
from pathlib import Path

import torch
import torch._inductor.select_algorithm
from torch import nn

torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

LAYERS = [
    (3, 64, 512),
    (64, 64, 512),
    (64, 128, 256),
    (128, 128, 256),
    (128, 256, 128),
    (256, 256, 128),
    (256, 512, 64),
    (512, 512, 64),
    (512, 1024, 32),
    (1024, 1024, 32),
]
NETWORKS = [(64, 512, 512), (32, 512, 288), (16, 256, 256), (32, 1920, 1088)]


class Block(nn.Sequential):
    def __init__(self, channels_in, channels_out):
        layers = []
        for channels in (channels_in, channels_out):
            layers += [
                nn.Conv2d(channels, channels_out, 3, padding=1, bias=False),
                nn.BatchNorm2d(channels_out),
                nn.ReLU(inplace=True),
            ]
        super().__init__(*layers)


class UNet(nn.Module):
    def __init__(self, base):
        super().__init__()
        widths = [base << i for i in range(5)]
        self.down = nn.ModuleList(Block(i, o) for i, o in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(w, w // 2, 2, stride=2) for w in widths[:0:-1])
        self.blocks = nn.ModuleList(Block(w, w // 2) for w in widths[:0:-1])
        self.pool, self.out = nn.MaxPool2d(2), nn.Conv2d(base, 1, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else self.pool(x))
            skips.append(x)
        skips.pop()
        for up, block in zip(self.up, self.blocks):
            x = block(torch.cat([skips.pop(), up(x)], 1))
        return torch.sigmoid(self.out(x))


def median_ms(run, repeats=50):
    for _ in range(5):
        run()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def graphed(run, calls=1):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            run()
    return graph.replay


def on_gpu(module):
    return module.half().cuda().eval().to(memory_format=torch.channels_last)


def random_input(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.half).to(
        memory_format=torch.channels_last
    )


def print_times(name, net, x):
    """Of a whole network, eager and as a CUDA graph."""
    print(f"{name}: eager {median_ms(lambda: net(x)):.4f} ms", flush=True)
    print(f"{name}: graph {median_ms(graphed(lambda: net(x))):.4f} ms", flush=True)


def layers():
    for channels_in, channels_out, size in LAYERS:
        conv = on_gpu(nn.Conv2d(channels_in, channels_out, 3, padding=1))
        x = random_input(4, channels_in, size, size)
        ms = median_ms(graphed(functools.partial(conv, x), 10), 9) / 10
        print(f"layer {channels_in}->{channels_out} at {size}: cudnn {ms:.4f} ms", flush=True)


def network(index):
    base, width, height = NETWORKS[index]
    return on_gpu(UNet(base)), random_input(1, 3, height, width), f"base {base} {width}x{height}"


def eager():
    for index in range(len(NETWORKS)):
        net, x, name = network(index)
        print_times(name, net, x)


def fp32():
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    net, x, name = network(0)
    net, x = net.float(), x.float()
    print(f"{name}: fp32 {median_ms(graphed(lambda: net(x)), 20):.4f} ms", flush=True)


def bottlenecks():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "inference" / "training"))
    from train import model

    model.depthwise_conv = lambda conv, x: conv(x)  # by cuDNN, which is faster once it has compiled
    for name in ("portrait", "portrait-lite"):
        net = model.fold_batch_norm(model.UNet(*model.ARCHITECTURES[name]).eval())
        print_times(name, on_gpu(net), random_input(1, 3, 320, 512))


def compiled(index):
    net, x, name = network(index)
    torch._inductor.select_algorithm.PRINT_AUTOTUNE = False
    run = torch.compile(net, mode="max-autotune", dynamic=False)
    print(f"{name}: compile {median_ms(lambda: run(x)):.4f} ms", flush=True)


if __name__ == "__main__":
    with torch.inference_mode():
        if sys.argv[1] == "compile":
            compiled(int(sys.argv[2]))
        else:
            for what in sys.argv[1:]:
                {"layers": layers, "eager": eager, "fp32": fp32, "bottlenecks": bottlenecks}[what]()
