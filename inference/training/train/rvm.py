#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another network's mattes for training: those of RobustVideoMatting (Lin et al., "Robust
High-Resolution Video Matting with Temporal Guidance", 2021) of photos, and of the frames of clips.

    python3 inference/training/train/rvm.py rvm_mobilenetv3.onnx DATA/portraits DATA/clips MATTES

Writes MATTES/photos/ID.png of each photo that people labelled, and MATTES/clips/CLIP/NNNN.jpg with
NNNN.png of each frame. pack.py reads them. The network is recurrent: a photo is shown twice, a clip
some seconds forwards and backwards before its mattes are taken. Needs OpenCV and ONNX Runtime.
"""

import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train.command_line import Parser

LONGEST_SIDE = 512  # of the network's input, pixels; multiples of 16
STATES = ((16, 2), (20, 4), (40, 8), (64, 16))  # channels, and the input's side by the state's
WARM_UP_FRAMES = 40  # of a clip


class Matting:
    """The network with its state."""

    def __init__(self, path: str, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(path, options)
        self.state: list[np.ndarray] = []

    def reset(self) -> None:
        """Forgets what it saw."""
        self.state = []

    def matte(self, image: np.ndarray) -> np.ndarray:
        """Alpha [H, W], 0 to 255, of the next picture, BGR [H, W, 3] of 8 bits."""
        height, width = image.shape[:2]
        self.state = self.state or [
            np.zeros((1, channels, -(-height // step), -(-width // step)), np.float32)
            for channels, step in STATES
        ]
        rgb = image[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32) / 255
        inputs = {f"r{i}i": state for i, state in enumerate(self.state, 1)}
        outputs = ["pha", *(f"r{i}o" for i in range(1, 5))]
        alpha, *self.state = self.session.run(outputs, {"src": np.ascontiguousarray(rgb), **inputs})
        return (alpha[0, 0].clip(0, 1) * 255 + 0.5).astype(np.uint8)


def network_size(image: np.ndarray) -> np.ndarray:
    """`image` at the network's size."""
    height, width = image.shape[:2]
    scale = LONGEST_SIDE / max(height, width) / 16
    size = round(width * scale) * 16, round(height * scale) * 16
    return cv2.resize(
        image, size, interpolation=cv2.INTER_AREA if scale < 1 / 16 else cv2.INTER_CUBIC
    )


def read_photos(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Ids and pictures of the labelled photos in the archives of `folder`."""
    for archive in sorted(folder.glob("*.tar")):
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.removeprefix("./")
                if name.startswith("labelled/") and name.endswith(".jpg"):
                    data = np.frombuffer(tar.extractfile(member).read(), np.uint8)
                    yield name.removesuffix(".jpg"), cv2.imdecode(data, cv2.IMREAD_COLOR)


def write_photo(network: Matting, image: np.ndarray, path: Path) -> None:
    """Writes the matte of a photo."""
    network.reset()
    small = network_size(image)
    network.matte(small)
    size = image.shape[1], image.shape[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    matte = cv2.resize(network.matte(small), size, interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(path), matte)


def write_clip(network: Matting, clip: Path, folder: Path) -> int:
    """Writes a clip's frames and mattes; returns how many."""
    capture, frames = cv2.VideoCapture(str(clip)), []
    while (read := capture.read())[0]:
        frames.append(network_size(read[1]))
    network.reset()
    begin = frames[:WARM_UP_FRAMES]
    for frame in [*begin, *reversed(begin)]:
        network.matte(frame)
    folder.mkdir(parents=True, exist_ok=True)
    for i, frame in enumerate(frames):
        cv2.imwrite(str(folder / f"{i:04}.jpg"), frame, [cv2.IMWRITE_JPEG_QUALITY, 88])
        cv2.imwrite(str(folder / f"{i:04}.png"), network.matte(frame))
    return len(frames)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("model", help="RobustVideoMatting as an ONNX file")
    parser.add_argument("portraits", help="folder of part_*.tar")
    parser.add_argument("clips", help="folder of *.mp4")
    parser.add_argument("out")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(argv)
    network, out, count = Matting(args.model, args.threads), Path(args.out), 0
    for clip in sorted(Path(args.clips).glob("*.mp4")):
        frames = write_clip(network, clip, out / "clips" / clip.stem)
        print(f"{clip.name}: {frames} frames", flush=True)
    for name, image in read_photos(Path(args.portraits)):
        path = out / "photos" / f"{name}.png"
        if not path.exists():
            write_photo(network, image, path)
        count += 1
    print(f"{count} photos")


if __name__ == "__main__":
    main()
