#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the portrait data for a GPU machine: photos as lossy WebP, mattes as lossless WebP in 64
steps, in a few zip files of equal size. Needs Pillow.

    python3 inference/training/train/pack.py DATA/portraits .train --parts 3 --others MATTES

Every part holds an even share of each source and its own index.csv (id, split, labelled_by), so
that training runs on whichever parts it is given. The validation photos are all in the first part,
at high quality. Training photos that show what a validation photo shows are left out. One in twenty
of those that people labelled is for the choice of a model, split `dev`. --others names what
rvm.py wrote: another network's mattes of the labelled photos, and frames of clips with its mattes.
"""

import csv
import io
import itertools
import os
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train.command_line import Parser

Row = dict[str, str]  # of manifest.csv


def validation_duplicates(rows: Iterable[Row]) -> set[str]:
    """Ids of training photos that show what a validation photo shows: `eg1800-fullframe/N` is the
    photo from which `eg1800/N` was cropped."""
    validation = {
        row["id"].split("/")[-1] for row in rows if row["split"] == "val" and "eg1800" in row["id"]
    }
    return {
        row["id"]
        for row in rows
        if "eg1800-fullframe" in row["id"] and row["id"].split("/")[-1] in validation
    }


def encode_photo(data: bytes, side: int, quality: int) -> tuple[bytes, tuple[int, int]]:
    """A photo as WebP, at most `side` pixels long, and its new size."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    if max(image.size) > side:
        image.thumbnail((side, side), Image.LANCZOS)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=quality, method=4)
    return out.getvalue(), image.size


def encode_matte(data: bytes, size: tuple[int, int]) -> bytes:
    """A matte as lossless WebP of `size` (width, height)."""
    image = Image.open(io.BytesIO(data)).convert("L")
    if image.size != size:
        image = image.resize(size, Image.BOX)
    image = image.point(lambda v: 0 if v < 6 else 255 if v > 249 else (v + 2) // 4 * 4)
    out = io.BytesIO()
    image.convert("RGB").save(out, "WEBP", lossless=True, method=4)
    return out.getvalue()


Task = tuple[Row, dict[str, bytes], int, int]


def encode(task: Task) -> tuple[Row, dict[str, bytes]]:
    """(row, pictures by kind, side, quality) -> (row, encoded pictures by kind)."""
    row, pictures, side, quality = task
    quality = 95 if row["split"] in ("val", "dev") else quality
    photo, size = encode_photo(pictures["photo"], side, quality)
    mattes = {kind: encode_matte(pictures[kind], size) for kind in pictures if kind != "photo"}
    return row, {"photo": photo, **mattes}


def selection_split(row: Row) -> str:
    """The split of a photo of the manifest: `dev` for one in twenty of those people labelled."""
    chosen = row["split"] == "train" and row["id"].startswith("labelled")
    return "dev" if chosen and zlib.crc32(row["id"].encode()) % 20 == 0 else row["split"]


def clip_tasks(folder: Path, quality: int) -> Iterator[Task]:
    """The frames CLIP/NNNN.jpg with mattes CLIP/NNNN.png below `folder`."""
    for frame in sorted(folder.glob("*/*.jpg")):
        row = {"id": f"clips/{frame.parent.name}/{frame.stem}", "split": "clip", "labelled_by": ""}
        pictures = {"photo": frame.read_bytes(), "matte": frame.with_suffix(".png").read_bytes()}
        yield row, pictures, 512, quality


def read_all(folder: str) -> dict[str, bytes]:
    """The files in all archives .tar of a folder, by name."""
    files = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".tar"):
            with tarfile.open(os.path.join(folder, name)) as tar:
                for member in tar:
                    if member.isfile():
                        files[member.name.removeprefix("./")] = tar.extractfile(member).read()
    return files


def write_parts(out: str, encoded: Iterable[tuple[Row, dict[str, bytes]]], parts: int) -> None:
    """Writes the photos into `parts` zip files; each goes into the smallest so far, those for
    scores and the clips into the first."""
    os.makedirs(out, exist_ok=True)
    names = [os.path.join(out, f"portraits_{i}.zip") for i in range(parts)]
    archives = [zipfile.ZipFile(name, "w") for name in names]
    indices = [["id,split,labelled_by"] for _ in archives]
    sizes = [0] * parts
    for row, pictures in encoded:
        part = sizes.index(min(sizes)) if row["split"] == "train" else 0
        sizes[part] += sum(len(data) for data in pictures.values())
        for kind, data in pictures.items():
            archives[part].writestr(f"{row['id']}.{kind}.webp", data)
        labelled_by = row["labelled_by"].replace(",", ";")
        indices[part].append(f"{row['id']},{row['split']},{labelled_by}")
    for archive, index in zip(archives, indices):
        archive.writestr("index.csv", "\n".join(index) + "\n")
        archive.close()
        print(archive.filename, f"{os.path.getsize(archive.filename) / 2**20:.1f} MiB")


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("portraits", help="folder of part_*.tar and manifest.csv")
    parser.add_argument("out")
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--side", type=int, default=400, help="longest side of a photo, pixels")
    parser.add_argument("--quality", type=int, default=72)
    parser.add_argument("--others", help="folder of another network's mattes")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args(argv)
    with open(os.path.join(args.portraits, "manifest.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    dropped = validation_duplicates(rows)
    rows = [row for row in rows if row["id"] not in dropped]
    print(f"{len(rows)} photos; {len(dropped)} left out because a validation photo shows the same")
    files, others = read_all(args.portraits), args.others and Path(args.others)
    missing = [row for row in rows if row["id"] + ".jpg" not in files]
    rows = [row for row in rows if row["id"] + ".jpg" in files]
    if missing:
        print(
            f"{len(missing)} photos of the manifest are in no archive, such as {missing[0]['id']}"
        )

    def task(row: Row) -> Task:
        name = row["id"]
        row = {**row, "split": selection_split(row)}
        pictures = {"photo": files[name + ".jpg"], "matte": files.get(name + ".png")}
        if others and row["split"] == "train" and name.startswith("labelled"):
            pictures["other"] = (others / "photos" / f"{name}.png").read_bytes()
        pictures = {kind: data for kind, data in pictures.items() if data}
        return row, pictures, args.side, args.quality

    clips = clip_tasks(others / "clips", args.quality) if others else ()
    # Scores first: the first part is then filled up.
    rows.sort(key=lambda row: selection_split(row) == "train")
    tasks = itertools.chain(clips, map(task, rows))
    with ProcessPoolExecutor(args.workers) as pool:
        write_parts(args.out, pool.map(encode, tasks, chunksize=16), args.parts)


if __name__ == "__main__":
    main()
