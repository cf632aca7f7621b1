# SPDX-License-Identifier: Apache-2.0
"""Compares the GPU engine with PyTorch on one GPU in one run: one Markdown table on stdout,
medians of milliseconds, random data.

    side_by_side.py FOLDER [--seconds N]

FOLDER holds gpu_network and gpu_conv. Every measurement is a process of its own with a time limit,
one after the other; what does not end in time says so. --seconds bounds the whole; torch.compile,
which may take minutes for a network, gets what the others leave.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time

NETWORKS = ["base 64 512x512", "base 32 512x288", "base 16 256x256", "base 32 1920x1088"]
MISSING = "not in time"


class Runner:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def lines(self, command, limit):
        """What a command printed, as far as it came."""
        limit = min(limit, self.end - time.monotonic())
        if limit < 3:
            return []
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
            out, how = done.stdout, f"exit {done.returncode}"
            if done.returncode:
                print(done.stderr[-1000:], file=sys.stderr)
        except subprocess.TimeoutExpired as late:
            out, how = (late.stdout or b"").decode(errors="replace"), "out of time"
        print(
            f"{' '.join(map(str, command))}: {how} after {time.monotonic() - start:.0f} s",
            file=sys.stderr,
        )
        return out.splitlines()

    def times(self, command, limit, pattern):
        """{name: milliseconds} of the lines that `pattern` matches, by its groups `name` and
        `ms`."""
        matches = (re.match(pattern, line) for line in self.lines(command, limit))
        return {match["name"]: float(match["ms"]) for match in matches if match}


def cell(times, name):
    return f"{times[name]:.4g}" if name in times else MISSING


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=900)
    options = parser.parse_args()
    here = pathlib.Path(__file__).parent
    runner = Runner(options.seconds)
    ours_network = r"(?P<name>base \d+ \d+x\d+): (?P<ms>[\d.]+) ms"
    torch_line = r"(?P<name>.*): %s (?P<ms>[\d.]+) ms"

    def ours(*words):
        return runner.times([options.folder / "gpu_network", *words], 60, ours_network)

    def torch(lines, kind):
        found = (re.match(torch_line % kind, line) for line in lines)
        return {match["name"]: float(match["ms"]) for match in found if match}

    columns = {
        "ours, sm90": ours("sm90"),
        "ours, tuned": ours("sm90", "--tune"),
        "ours, mma": ours("mma"),
        "ours, fp32": ours("fp32"),
    }
    layers = runner.times(
        [options.folder / "gpu_conv", "sm90", "--first", "10", "--most", "1"],
        60,
        r"conv3x3 4x(?P<size>\d+)x\d+ (?P<name>\S+)\s+(?P<ms>[\d.]+)",
    )
    program = [sys.executable, here / "gpu_torch.py"]
    lines = runner.lines([*program, "eager", "layers", "fp32"], 180)
    layer_lines = torch(lines, "cudnn")
    columns["PyTorch eager"], columns["PyTorch graph"] = (
        torch(lines, "eager"),
        torch(lines, "graph"),
    )
    columns["PyTorch max-autotune"] = {}
    for index in (2, 1, 0, 3):  # the quickest to compile first
        compiled = runner.lines([*program, "compile", str(index)], 300)
        columns["PyTorch max-autotune"].update(torch(compiled, "compile"))
    columns["PyTorch graph, fp32"] = torch(lines, "fp32")

    rows = [[name, *(cell(times, name) for times in columns.values())] for name in NETWORKS]
    for row in rows[1:]:
        row[-1] = ""  # single precision is compared on one network
    print_table(["network", *columns], rows)
    print()
    ratios = []
    rows = []
    for name, cudnn in layer_lines.items():
        channels, size = re.match(r"layer (\S+) at (\d+)", name).groups()
        mine = layers.get(channels)
        if mine:
            ratios.append(cudnn / mine)
        rows.append(
            [
                f"{channels} at {size}x{size}",
                f"{mine:.4f}" if mine else MISSING,
                f"{cudnn:.4f}",
                f"{cudnn / mine:.2f}" if mine else "",
            ]
        )
    print_table(["3x3 layer, batch 4", "ours, sm90", "cuDNN", "times"], rows)
    if ratios:
        product = 1.0
        for ratio in ratios:
            product *= ratio
        print(f"\nGeometric mean: {product ** (1 / len(ratios)):.2f} times as fast as cuDNN.")


if __name__ == "__main__":
    main()
