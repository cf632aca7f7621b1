#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the CPU engine with ONNX Runtime: the same U-Nets with random weights, on the same
threads, in turns within one run; medians of milliseconds.

    pip install onnx onnxruntime numpy
    cmake -S . -B build/bench -DMATTE_BENCH=ON -DMATTE_GUI=OFF
    cmake --build build/bench --target bench_cpu
    python3 tests/bench/compare_cpu.py build/bench/tests/bench/bench_cpu
"""

import argparse
import json
import os
import statistics
import subprocess
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

WORK = [(16, 256, 256), (32, 256, 256), (32, 512, 288), (64, 512, 512)]


def unet(base, width, height):
    """Batch norm is folded already, as every runtime does at load."""
    rng = np.random.default_rng(1)
    nodes, weights = [], []

    def parameter(name, *shape):
        scale = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5
        weights.append(
            numpy_helper.from_array((rng.standard_normal(shape) * scale).astype(np.float32), name)
        )
        return name

    def conv(name, source, inputs, outputs, side=3, relu=True):
        nodes.append(
            helper.make_node(
                "Conv",
                [
                    source,
                    parameter(name + ".w", outputs, inputs, side, side),
                    parameter(name + ".b", outputs),
                ],
                [name],
                pads=[side // 2] * 4,
                kernel_shape=[side, side],
            )
        )
        if relu:
            nodes.append(helper.make_node("Relu", [name], [name + ".r"]))
        return name + ".r" if relu else name

    def node(op, inputs, name, **attributes):
        nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    widths = [base << level for level in range(5)]
    at, channels, skips = "input", 3, []
    for level, w in enumerate(widths):
        at = conv(f"d{level}b", conv(f"d{level}a", at, channels, w), w, w)
        channels = w
        if level < 4:
            skips.append(at)
            at = node("MaxPool", [at], f"p{level}", kernel_shape=[2, 2], strides=[2, 2])
    for level in (3, 2, 1, 0):
        w = widths[level]
        up = node(
            "ConvTranspose",
            [at, parameter(f"u{level}.w", 2 * w, w, 2, 2), parameter(f"u{level}.b", w)],
            f"u{level}",
            kernel_shape=[2, 2],
            strides=[2, 2],
        )
        both = node("Concat", [skips[level], up], f"c{level}", axis=1)
        at = conv(f"u{level}b", conv(f"u{level}a", both, 2 * w, w), w, w)
    node("Sigmoid", [conv("head", at, base, 1, side=1, relu=False)], "alpha")
    graph = helper.make_graph(
        nodes,
        "unet",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, height, width])],
        [helper.make_tensor_value_info("alpha", TensorProto.FLOAT, [1, 1, height, width])],
        weights,
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    ).SerializeToString()


def ours(program, name, seconds, threads):
    command = [
        program,
        f"--benchmark_filter=^network/{name}/real_time$",
        f"--benchmark_min_time={seconds}",
        "--benchmark_format=json",
    ]
    out = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    result = json.loads(out.stdout)["benchmarks"][0]
    return None if "error_message" in result else result["real_time"]


def theirs(session, picture, seconds):
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        session.run(None, {"input": picture})
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", help="bench_cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each runtime in each round")
    options = parser.parse_args()
    print(
        f"ONNX Runtime {onnxruntime.__version__}, {options.threads} threads, "
        f"medians of {options.rounds} rounds, milliseconds"
    )
    print(
        f"{'network':24}{'ONNX f32':>10}{'ours f32':>10}{'times':>8}{'ours bf16':>11}{'times':>8}"
    )
    for base, width, height in WORK:
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        session = onnxruntime.InferenceSession(
            unet(base, width, height), settings, providers=["CPUExecutionProvider"]
        )
        picture = np.random.default_rng(2).standard_normal((1, 3, height, width)).astype(np.float32)
        session.run(None, {"input": picture})
        name = f"base{base}/{width}x{height}"
        rounds = [
            (
                theirs(session, picture, options.seconds),
                ours(options.program, name + "/f32", options.seconds, options.threads),
                ours(options.program, name + "/bf16", options.seconds, options.threads),
            )
            for _ in range(options.rounds)
        ]
        onnx_ms, f32_ms = (statistics.median(column) for column in list(zip(*rounds))[:2])
        line = f"{name:24}{onnx_ms:10.1f}{f32_ms:10.1f}{onnx_ms / f32_ms:8.2f}"
        if rounds[0][2] is not None:
            bf16_ms = statistics.median(r[2] for r in rounds)
            line += f"{bf16_ms:11.1f}{onnx_ms / bf16_ms:8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
