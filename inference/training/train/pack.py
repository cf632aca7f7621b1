#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repacks the portrait data so that it travels: photos as lossy WebP, mattes as lossless WebP in 64 steps, in a few zip files of equal size.

    python3 inference/training/train/pack.py DATA/portraits .train --parts 2

Every part holds a fair share of each source and its own index.csv (id, split, labelled_by), so training runs on whichever parts it is given. The validation photos all lie
in the first part, at high quality. Needs Pillow.
"""
import argparse
import csv
import io
import os
import tarfile
import zipfile
from concurrent.futures import ProcessPoolExecutor

from PIL import Image


def leaks(rows):
    """Ids of training photos that show what a validation photo shows: `eg1800-fullframe/N` is the photo that `eg1800/N` was cropped from."""
    held_out = {row["id"].split("/")[-1] for row in rows if row["split"] == "val" and "eg1800" in row["id"]}
    return {row["id"] for row in rows if "eg1800-fullframe" in row["id"] and row["id"].split("/")[-1] in held_out}


def encode_photo(data, side, quality):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    if max(image.size) > side:
        image.thumbnail((side, side), Image.LANCZOS)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=quality, method=4)
    return out.getvalue(), image.size


def encode_matte(data, size):
    image = Image.open(io.BytesIO(data)).convert("L")
    if image.size != size:
        image = image.resize(size, Image.BOX)
    image = image.point(lambda v: 0 if v < 6 else 255 if v > 249 else (v + 2) // 4 * 4)
    out = io.BytesIO()
    image.convert("RGB").save(out, "WEBP", lossless=True, method=4)
    return out.getvalue()


def encode(task):
    row, photo, matte, side, quality = task
    quality = 95 if row["split"] == "val" else quality
    photo, size = encode_photo(photo, side, quality)
    return row, photo, matte and encode_matte(matte, size)


def read_all(folder):
    files = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".tar"):
            with tarfile.open(os.path.join(folder, name)) as tar:
                for member in tar:
                    if member.isfile():
                        files[member.name.removeprefix("./")] = tar.extractfile(member).read()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("portraits", help="folder of part_*.tar and manifest.csv")
    parser.add_argument("out")
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--side", type=int, default=400, help="longest side of a photo, pixels")
    parser.add_argument("--quality", type=int, default=72)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()

    with open(os.path.join(args.portraits, "manifest.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    dropped = leaks(rows)
    rows = [row for row in rows if row["id"] not in dropped]
    print(f"{len(rows)} photos; {len(dropped)} left out because a validation photo shows the same")
    files = read_all(args.portraits)
    tasks = ((row, files[row["id"] + ".jpg"], files.get(row["id"] + ".png"), args.side, args.quality) for row in rows)

    os.makedirs(args.out, exist_ok=True)
    parts = [zipfile.ZipFile(os.path.join(args.out, f"portraits_{i}.zip"), "w") for i in range(args.parts)]
    indices = [["id,split,labelled_by"] for _ in parts]
    sizes = [0] * args.parts
    with ProcessPoolExecutor(args.workers) as pool:
        for row, photo, matte in pool.map(encode, tasks, chunksize=16):
            part = 0 if row["split"] == "val" else sizes.index(min(sizes))
            sizes[part] += len(photo) + len(matte or b"")
            parts[part].writestr(row["id"] + ".photo.webp", photo)
            if matte:
                parts[part].writestr(row["id"] + ".matte.webp", matte)
            indices[part].append(f'{row["id"]},{row["split"]},{row["labelled_by"].replace(",", ";")}')
    for part, index in zip(parts, indices):
        part.writestr("index.csv", "\n".join(index) + "\n")
        part.close()
        print(part.filename, f"{os.path.getsize(part.filename) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
