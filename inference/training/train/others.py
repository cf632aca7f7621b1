#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores MediaPipe Selfie Segmentation, its general and its landscape model, on photos with mattes,
by the metrics of metrics.py.

    python3 inference/training/train/others.py FOLDER
    matte-cli evaluate FOLDER      Matte's own on the same photos

FOLDER has photos NAME.jpg with mattes NAME.png (grey, white is the person), also in folders below;
the source of a photo is its folder. MediaPipe gets each photo at its own size, and its mask is the
matte, not rounded. It logs a few lines to stderr. The models come with the package mediapipe
0.10.14, for Python up to 3.12; 1.2.3 no longer has them. On Debian, beside python3-torch:

    python3 -m venv --system-site-packages others
    others/bin/pip install mediapipe==0.10.14 'numpy<2'
"""

import sys
from collections.abc import Sequence
from pathlib import Path

try:
    import torch
    from mediapipe.python.solutions.selfie_segmentation import SelfieSegmentation

    torch.zeros(1).numpy()  # fails beside NumPy 2 where PyTorch was built for NumPy 1
except (ImportError, RuntimeError) as error:
    packages = "torch pillow mediapipe==0.10.14 'numpy<2'"
    sys.exit(f"{error}: install what others.py needs with pip install {packages}")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data
from train.command_line import Parser
from train.evaluate import score_photos

MODELS = {"general": 0, "landscape": 1}
COLUMNS = {
    "miou": "mIoU",
    "person": "person",
    "mad": "MAD",
    "boundary": "bound.",
    "worst": "worst",
}


def predict(segmentation: SelfieSegmentation, photo: torch.Tensor) -> torch.Tensor:
    """RGB in 0 to 1 [1, 3, h, w] -> alpha [1, 1, h, w]."""
    pixels = (photo[0] * 255 + 0.5).byte().permute(1, 2, 0).contiguous().numpy()
    return torch.tensor(segmentation.process(pixels).segmentation_mask)[None, None]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the script."""
    parser = Parser(__doc__)
    parser.add_argument("folder", help="of photos with mattes")
    args = parser.parse_args(argv)
    try:
        photos = data.load_folder(args.folder, torch.device("cpu"))
    except FileNotFoundError as error:
        sys.exit(str(error))
    heading = " ".join(f"{heading:>7}" for heading in COLUMNS.values())
    print(f"{'model':>9} {'source':28} {heading} {'photos':>6}")
    for name, selection in MODELS.items():
        with SelfieSegmentation(model_selection=selection) as segmentation:
            table = score_photos(lambda photo, s=segmentation: predict(s, photo), photos)
        for source, scores in table.items():
            values = " ".join(f"{scores[column]:7.4f}" for column in COLUMNS)
            print(f"{name:>9} {source:28} {values} {scores['photos']:6}", flush=True)


if __name__ == "__main__":
    main()
