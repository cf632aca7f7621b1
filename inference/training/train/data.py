# SPDX-License-Identifier: Apache-2.0
"""Packed photos (pack.py) decoded once into the accelerator's memory."""
import csv
import io
import os
import zipfile
from concurrent.futures import ThreadPoolExecutor

import torch

# How often a photo is drawn, by source: those that people labelled with care count for more, and most the few of groups and of people far away.
SHARE = {"labelled/eg1800": 2.0, "labelled/eg1800-extra": 2.0, "labelled/clothing-co-parsing": 1.8, "labelled/VikramShenoy97": 3.0}
OTHER_SHARE = 0.9


def decode(data, channels):
    """An encoded photo as uint8 [channels, h, w], by whichever decoder there is."""
    try:
        from PIL import Image
    except ImportError:
        from torchvision.io import ImageReadMode, decode_image

        mode = ImageReadMode.GRAY if channels == 1 else ImageReadMode.RGB
        return decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode)
    image = Image.open(io.BytesIO(data)).convert("L" if channels == 1 else "RGB")
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return pixels.view(image.height, image.width, channels).permute(2, 0, 1)


class PhotoSet:
    """n photos with mattes: pixels uint8 [n, 4, S, S] (RGB and matte, top left of a square), sizes float [n, 2] (width, height), soft bool [n] (the matte was made by
    models and is soft), touch float [n, 4] (share of the left, top, right and bottom edge that a person covers), weight float [n], slant float [n] (the logarithm of
    height by width)."""

    def __init__(self, items, device):
        """items: (source, photo uint8 [3, h, w], matte uint8 [1, h, w] or None, soft)."""
        side = max(max(photo.shape[1:]) for _, photo, _, _ in items)
        pixels = torch.zeros(len(items), 4, side, side, dtype=torch.uint8)
        for i, (_, photo, matte, _) in enumerate(items):
            height, width = photo.shape[1:]
            pixels[i, :3, :height, :width] = photo
            if matte is not None:
                pixels[i, 3:, :height, :width] = matte
        self.sources = [source for source, _, _, _ in items]
        self.sizes = torch.tensor([[photo.shape[2], photo.shape[1]] for _, photo, _, _ in items]).float().to(device)
        self.soft = torch.tensor([soft for _, _, _, soft in items]).to(device)
        self.touch = torch.tensor([edges(matte) for _, _, matte, _ in items]).to(device)
        self.weight = torch.tensor([SHARE.get(source, OTHER_SHARE) for source in self.sources])
        self.slant = torch.log(self.sizes[:, 1] / self.sizes[:, 0]).cpu()
        self.pixels = pixels.to(device)
        # A person that no edge but the bottom one cuts off can stand anywhere in another picture.
        self.placeable = torch.nonzero(self.touch[:, :3].amax(1) < 0.03).flatten().cpu()
        self.whole = torch.nonzero(self.touch.amax(1) < 0.01).flatten().cpu()  # from head to foot, most of them

    def __len__(self):
        return len(self.sources)

    def photo(self, i):
        """(RGB in 0 to 1 [1, 3, h, w], matte in 0 to 1 [1, 1, h, w])"""
        width, height = (int(v) for v in self.sizes[i])
        both = self.pixels[i : i + 1, :, :height, :width].float() / 255
        return both[:, :3], both[:, 3:]


def edges(matte):
    if matte is None:
        return [0.0] * 4
    person = matte[0] > 127
    return [float(line.float().mean()) for line in (person[:, 0], person[0], person[:, -1], person[-1])]


def read_packs(folder):
    """Yields (row of index.csv, encoded photo, encoded matte or None)."""
    packs = sorted(name for name in os.listdir(folder) if name.endswith(".zip"))
    if not packs:
        raise FileNotFoundError(f"no .zip packs in {folder}: make them with pack.py")
    for name in packs:
        with zipfile.ZipFile(os.path.join(folder, name)) as pack:
            files = {entry: pack.read(entry) for entry in pack.namelist()}
        for row in csv.DictReader(io.StringIO(files["index.csv"].decode())):
            yield row, files[row["id"] + ".photo.webp"], files.get(row["id"] + ".matte.webp")


def load(folder, device, threads=16, only_held_out=False):
    """[people, backgrounds, held_out]: the photos of split `val` are in held_out alone. What there is none of, or is not wanted, is None."""

    def decoded(entry):
        row, photo, matte = entry
        source = "/".join(row["id"].split("/")[:2])
        return row["split"], (source, decode(photo, 3), matte and decode(matte, 1), row["id"].startswith("pseudo"))

    wanted = [entry for entry in read_packs(folder) if not only_held_out or entry[0]["split"] == "val"]
    with ThreadPoolExecutor(threads) as pool:
        photos = list(pool.map(decoded, wanted))
    kinds = [
        [item for split, item in photos if split == "train" and item[2] is not None],
        [item for split, item in photos if split == "train" and item[2] is None],
        [item for split, item in photos if split == "val"],
    ]
    return [PhotoSet(items, device) if items else None for items in kinds]


def has_packs(folder):
    return any(name.endswith(".zip") for name in os.listdir(folder))


def load_folder(folder, device):
    """A PhotoSet of the photos NAME.jpg with mattes NAME.png in `folder` and below; the source of each is its folder."""
    items = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            matte = os.path.splitext(path)[0] + ".png"
            if path.endswith(".jpg") and os.path.exists(matte):
                with open(path, "rb") as photo, open(matte, "rb") as alpha:
                    items.append((os.path.relpath(place, folder), decode(photo.read(), 3), decode(alpha.read(), 1), False))
    if not items:
        raise FileNotFoundError(f"no NAME.jpg with NAME.png below {folder}")
    return PhotoSet(items, device)
