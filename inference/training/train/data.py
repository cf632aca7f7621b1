# SPDX-License-Identifier: Apache-2.0
"""Packed photos (pack.py), decoded once into the accelerator's memory."""

import csv
import dataclasses
import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from train.soft_labels import soften

# Sampling weights by source: carefully labelled photos count for more, and most the few photos of
# groups and of people far away.
SAMPLING_WEIGHTS = {
    "labelled/eg1800": 2.0,
    "labelled/eg1800-extra": 2.0,
    "labelled/clothing-co-parsing": 1.8,
    "labelled/VikramShenoy97": 3.0,
}
DEFAULT_SAMPLING_WEIGHT = 0.9

SOFTENED_AT_ONCE = 64  # photos

PICTURES = ("photo", "matte", "other")  # of a pack's entry; the last is another network's matte
SPLITS = ("train", "val", "dev", "clip")

# Source, photo uint8 [3, h, w], matte uint8 [1, h, w] or None, whether the matte is a pseudo-label.
Item = tuple[str, Tensor, Tensor | None, bool]


def decode(data: bytes, channels: int) -> Tensor:
    """An encoded picture as uint8 [channels, h, w], by Pillow or else torchvision."""
    try:
        from PIL import Image
    except ImportError:
        from torchvision.io import ImageReadMode, decode_image

        mode = ImageReadMode.GRAY if channels == 1 else ImageReadMode.RGB
        return decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode)
    image = Image.open(io.BytesIO(data)).convert("L" if channels == 1 else "RGB")
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return pixels.view(image.height, image.width, channels).permute(2, 0, 1)


def save_picture(path: str, picture: Tensor, **options: int) -> None:
    """Writes RGB [1, 3, h, w] or grey [1, 1, h, w] in 0 to 1, with Pillow and its `options`."""
    from PIL import Image

    pixels = (picture[0] * 255 + 0.5).byte().permute(1, 2, 0).cpu().contiguous()
    height, width, channels = pixels.shape
    mode = "RGB" if channels == 3 else "L"
    raw = bytes(pixels.flatten().tolist())
    Image.frombytes(mode, (width, height), raw).save(path, **options)


class PhotoSet:
    """n photos with mattes.

    pixels: uint8 [n, 4, S, S], RGB and matte at the top left of a square
    sizes: float [n, 2], width and height
    pseudo: bool [n], whether models made the matte
    border_coverage: float [n, 4], share of the left, top, right and bottom edge that is person
    sampling_weight: float [n], on the CPU
    log_aspect: float [n], logarithm of height by width, on the CPU
    frames_left: frames of the same source from each photo on, where the photos are frames of clips,
        on the CPU
    placeable: indices of photos whose person can stand anywhere in another picture, on the CPU
    full_body: indices of photos that no edge cuts, most from head to foot, on the CPU"""

    def __init__(self, items: Sequence[Item], device: torch.device) -> None:
        side = max(max(photo.shape[1:]) for _, photo, _, _ in items)
        pixels = torch.zeros(len(items), 4, side, side, dtype=torch.uint8)
        for i, (_, photo, matte, _) in enumerate(items):
            height, width = photo.shape[1:]
            pixels[i, :3, :height, :width] = photo
            if matte is not None:
                pixels[i, 3:, :height, :width] = matte
        self.sources = [source for source, _, _, _ in items]
        sizes = torch.tensor([[photo.shape[2], photo.shape[1]] for _, photo, _, _ in items]).float()
        coverage = torch.tensor([border_coverage(matte) for _, _, matte, _ in items])
        self.sizes = sizes.to(device)
        self.pseudo = torch.tensor([pseudo for _, _, _, pseudo in items]).to(device)
        self.border_coverage = coverage.to(device)
        self.sampling_weight = torch.tensor(
            [SAMPLING_WEIGHTS.get(source, DEFAULT_SAMPLING_WEIGHT) for source in self.sources]
        )
        left = [1] * len(items)
        for i in range(len(items) - 2, -1, -1):
            left[i] = left[i + 1] + 1 if self.sources[i] == self.sources[i + 1] else 1
        self.frames_left = torch.tensor(left)
        self.log_aspect = torch.log(self.sizes[:, 1] / self.sizes[:, 0]).cpu()
        self.pixels = pixels.to(device)
        # No edge but the lower one cuts these.
        self.placeable = torch.nonzero(coverage[:, :3].amax(1) < 0.03).flatten()
        self.full_body = torch.nonzero(coverage.amax(1) < 0.01).flatten()

    def __len__(self) -> int:
        return len(self.sources)

    def soften(self, others: dict[int, Tensor]) -> None:
        """Makes hard labels soft at their edges, with the help of other mattes, uint8 [1, h, w], by
        index."""
        chosen = sorted(others)
        for begin in range(0, len(chosen), SOFTENED_AT_ONCE):
            index = chosen[begin : begin + SOFTENED_AT_ONCE]
            both = self.pixels[index].float() / 255
            other = torch.zeros_like(both[:, 3:])
            for k, i in enumerate(index):
                height, width = others[i].shape[1:]
                other[k, :, :height, :width] = others[i].to(other.device).float() / 255
            alpha = soften(both[:, :3], both[:, 3:], other, self.valid(index))
            self.pixels[index, 3:] = (alpha * 255 + 0.5).byte()

    def valid(self, index: Sequence[int]) -> Tensor:
        """Which pixels of the squares are of the photos: bool [n, 1, S, S]."""
        at = torch.arange(self.pixels.shape[-1], device=self.pixels.device)
        across, down = (at < self.sizes[index, i].view(-1, 1) for i in (0, 1))
        return (across.unsqueeze(1) & down.unsqueeze(2)).unsqueeze(1)

    def photo(self, i: int) -> tuple[Tensor, Tensor]:
        """RGB [1, 3, h, w] and matte [1, 1, h, w], in 0 to 1."""
        width, height = (int(v) for v in self.sizes[i])
        both = self.pixels[i : i + 1, :, :height, :width].float() / 255
        return both[:, :3], both[:, 3:]


def border_coverage(matte: Tensor | None) -> list[float]:
    """Share of the left, top, right and bottom edge of a matte, uint8 [1, h, w], that is person."""
    if matte is None:
        return [0.0] * 4
    person = matte[0] > 127
    edges = (person[:, 0], person[0], person[:, -1], person[-1])
    return [float(edge.float().mean()) for edge in edges]


def read_packs(folder: str) -> Iterator[tuple[dict[str, str], dict[str, bytes]]]:
    """Yields rows of index.csv with the encoded pictures: the photo, the matte and the other matte,
    where there are such."""
    packs = sorted(name for name in os.listdir(folder) if name.endswith(".zip"))
    if not packs:
        raise FileNotFoundError(f"no .zip packs in {folder}: make them with pack.py")
    for name in packs:
        with zipfile.ZipFile(os.path.join(folder, name)) as pack:
            files = {entry: pack.read(entry) for entry in pack.namelist()}
        for row in csv.DictReader(io.StringIO(files["index.csv"].decode())):
            kinds = {kind: files.get(f"{row['id']}.{kind}.webp") for kind in PICTURES}
            yield row, {kind: data for kind, data in kinds.items() if data}


@dataclasses.dataclass
class Packs:
    """The photos of packs by what they are for; None where there are none or none are wanted."""

    people: PhotoSet | None
    backgrounds: PhotoSet | None
    validation: PhotoSet | None  # scores are reported on them
    selection: PhotoSet | None  # models are chosen by them
    clips: PhotoSet | None  # frames, those of a clip in order


def load_packs(
    folder: str,
    device: torch.device,
    threads: int = 16,
    splits: Sequence[str] = SPLITS,
    soft: bool = True,
) -> Packs:
    """The photos of the named splits. Human labels of people for training become `soft` at their
    edges."""

    def decode_entry(entry: tuple[dict[str, str], dict[str, bytes]]) -> tuple[str, Item, Tensor]:
        row, files = entry
        source = "/".join(row["id"].split("/")[:2])
        pseudo = not row["id"].startswith("labelled")
        photo = decode(files["photo"], 3)
        matte, other = (files.get(k) and decode(files[k], 1) for k in ("matte", "other"))
        return row["split"], (source, photo, matte, pseudo), other

    entries = (entry for entry in read_packs(folder) if entry[0]["split"] in splits)
    with ThreadPoolExecutor(threads) as pool:
        photos = list(pool.map(decode_entry, entries))
    people = [
        (item, other) for split, item, other in photos if split == "train" and item[2] is not None
    ]
    sets = [
        [item for item, _ in people],
        [item for split, item, _ in photos if split == "train" and item[2] is None],
        *([item for split, item, _ in photos if split == name] for name in ("val", "dev", "clip")),
    ]
    packs = Packs(*(PhotoSet(items, device) if items else None for items in sets))
    if packs.people and soft:
        packs.people.soften({i: other for i, (_, other) in enumerate(people) if other is not None})
    return packs


def has_packs(folder: str) -> bool:
    """Whether `folder` is one of packs."""
    return any(name.endswith(".zip") for name in os.listdir(folder))


def load_folder(folder: str, device: torch.device) -> PhotoSet:
    """The photos NAME.jpg with mattes NAME.png in `folder` and below; the source of each is its
    folder."""
    items = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        source = os.path.relpath(place, folder)
        for name in sorted(names):
            path = os.path.join(place, name)
            matte = os.path.splitext(path)[0] + ".png"
            if path.endswith(".jpg") and os.path.exists(matte):
                with open(path, "rb") as photo, open(matte, "rb") as alpha:
                    items.append((source, decode(photo.read(), 3), decode(alpha.read(), 1), False))
    if not items:
        raise FileNotFoundError(f"no NAME.jpg with NAME.png below {folder}")
    return PhotoSet(items, device)
