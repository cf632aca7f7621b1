#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints results (CSV) as tables: what was measured, on what, by which command, then the rows.

    python3 tests/bench/show.py tests/bench/results/live-gpu.csv
    python3 tests/bench/show.py FILE 64x128 gpu   # rows with these words in them
    python3 tests/bench/show.py                   # the files and what is in them

A line that begins with # describes the table; the first other line has the columns' names.
"""

import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = (
    "tests/bench/results",
    "inference/baselines/results",
    "inference/training/experiments",
)


def read(path):
    """The description's lines, the names of the columns, the rows."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    about = [line[1:].strip() for line in lines if line.startswith("#")]
    rows = list(csv.reader(line for line in lines if line and not line.startswith("#")))
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            sys.exit(f"{path}: row {number} has {len(row)} cells, and the first {len(rows[0])}")
    return about, rows[0], rows[1:]


def is_number(cell):
    return cell == "" or cell[0].isdigit() or cell[0] in ".-"


def show(path, words):
    about, names, rows = read(path)
    rows = [row for row in rows if all(any(word in cell for cell in row) for word in words)]
    print("\n".join(about) + "\n")
    widths = [max(len(cell) for cell in column) for column in zip(names, *rows)]
    right = [all(is_number(row[i]) for row in rows) for i in range(len(names))]
    for row in [names, ["-" * width for width in widths], *rows]:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right)
        ]
        print("  ".join(cells).rstrip())


def main():
    if len(sys.argv) > 1:
        show(sys.argv[1], sys.argv[2:])
        return
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.csv")):
            print(f"{path.relative_to(ROOT)}: {read(path)[0][0]}")


if __name__ == "__main__":
    main()
