#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes into model files the output for the program's test picture, by which the engines notice a
damaged file or a faulty computer. Needs the standard library alone.

    python3 inference/training/train/answer.py build/release/inference/matte-cli MODEL...

To be run after export.py, and whenever the test picture changes (inference/engine/self_test.cpp).
Only the metadata known_answer changes; the bytes of the weights stay.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import safetensors_file
from train.command_line import Parser


def write_known_answer(cli: str, path: str) -> None:
    """Writes what the program `cli` computes for its test picture into the model file `path`."""
    command = [cli, "info", "--answer", os.path.abspath(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    header, data = safetensors_file.read(path)
    header.setdefault("__metadata__", {})["known_answer"] = answer
    safetensors_file.write(path, header, data)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("cli", help="the program matte-cli")
    parser.add_argument("models", nargs="+", help="model files")
    args = parser.parse_args(argv)
    for path in args.models:
        write_known_answer(args.cli, path)
        print(path)


if __name__ == "__main__":
    main()
