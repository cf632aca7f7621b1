#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores another program's mattes on photos with true mattes, by the measures of metrics.py: MediaPipe Selfie Segmentation, its general and its landscape model.

    python3 others.py FOLDER
    matte-cli evaluate FOLDER      Matte's own on the same photos

FOLDER has photos NAME.jpg with mattes NAME.png (grey, white is the person), also in folders below; the source of a photo is the folder it lies in. MediaPipe sees each
photo at its own size, and its mask is the matte, not rounded. It logs a few lines to stderr. The models come with the package mediapipe 0.10.14, for Python up to 3.12;
1.2.3 no longer has them. On Debian, beside python3-torch:

    python3 -m venv --system-site-packages others && others/bin/pip install mediapipe==0.10.14 'numpy<2'
"""
import argparse
import sys
from pathlib import Path

try:
    import torch
    from mediapipe.python.solutions.selfie_segmentation import SelfieSegmentation

    torch.zeros(1).numpy()  # fails beside NumPy 2 where PyTorch was built for NumPy 1
except (ImportError, RuntimeError) as error:
    sys.exit(f"{error}: install what others.py needs with pip install torch pillow mediapipe==0.10.14 'numpy<2'")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import data
from train.metrics import mean_scores, score

MODELS = {"general": 0, "landscape": 1}
COLUMNS = {"miou": "mIoU", "person": "person", "mad": "MAD", "boundary": "bound.", "worst": "worst"}


def matte(segmentation, photo):
    """RGB [1, 3, h, w] in 0 to 1 -> alpha [1, 1, h, w]."""
    pixels = (photo[0] * 255 + 0.5).byte().permute(1, 2, 0).contiguous().numpy()
    return torch.tensor(segmentation.process(pixels).segmentation_mask)[None, None]


def evaluate(selection, photos):
    """{source: scores}, "all" among the sources."""
    rows = []
    with SelfieSegmentation(model_selection=selection) as segmentation:
        for i in range(len(photos)):
            photo, truth = photos.photo(i)
            rows.append((photos.sources[i], score(matte(segmentation, photo), truth)))
    groups = {source: [row for s, row in rows if s == source] for source in sorted(set(photos.sources))}
    groups["all"] = [row for _, row in rows]
    return {source: mean_scores(group) for source, group in groups.items()}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of photos with mattes")
    args = parser.parse_args(argv)
    try:
        photos = data.load_folder(args.folder, torch.device("cpu"))
    except FileNotFoundError as error:
        sys.exit(str(error))
    print(f"{'model':>9} {'source':28} " + " ".join(f"{heading:>7}" for heading in COLUMNS.values()) + f" {'photos':>6}")
    for name, selection in MODELS.items():
        for source, s in evaluate(selection, photos).items():
            print(f"{name:>9} {source:28} " + " ".join(f"{s[column]:7.4f}" for column in COLUMNS) + f" {s['photos']:6}", flush=True)


if __name__ == "__main__":
    main()
