#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes into model files what they make of the program's test picture, so that the engines can see whether a file, or the computer, is damaged.

    python3 answer.py build/inference/matte-cli portrait.safetensors portrait-lite.safetensors

To be run after export.py, and whenever the test picture changes (inference/engine/self_test.cpp). Only the metadata known_answer changes; the weights' bytes stay. Needs no packages.
"""
import argparse
import json
import os
import struct
import subprocess


def write_answer(cli, path):
    """Asks the program `cli` what the model file `path` is to say, and writes it there."""
    told = subprocess.run([cli, "info", "--answer", os.path.abspath(path)], check=True, capture_output=True, text=True)
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.setdefault("__metadata__", {})["known_answer"] = told.stdout.strip()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    part = path + ".part"
    with open(part, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    os.replace(part, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli", help="the program matte-cli")
    parser.add_argument("models", nargs="+", help="model files")
    args = parser.parse_args()
    for path in args.models:
        write_answer(args.cli, path)
        print(path)


if __name__ == "__main__":
    main()
