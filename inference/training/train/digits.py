#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the classifier of inference/baselines/ops/digits.h on scikit-learn's 8x8 digits (Alpaydin,
Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998, CC BY
4.0) and writes its weights and its test split. Needs python3-torch and python3-sklearn; takes half
a minute on one core. Run from the root of the source tree:

    python3 inference/training/train/digits.py
"""

import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from train import safetensors_file

WEIGHTS = "inference/baselines/ops/digits.safetensors"
TEST = "tests/data/digits_test.safetensors"
SOURCE = (
    "Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, "
    "1998, CC BY 4.0"
)
EPOCHS, BATCH, TEST_PICTURES, TEST_PROBABILITIES = 60, 64, 360, 40


class Digits(nn.Module):
    """Two times convolution, ReLU and max-pooling, then a fully connected layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 1, 8, 8] in 0 to 1 -> logits [n, 10]."""
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.out(x.flatten(1))


def jitter(images: Tensor) -> Tensor:
    """Each picture [n, 1, 8, 8] moved by up to one pixel, because digits are centred only
    roughly."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2, len(images)))
    moved = [padded[i, :, y : y + 8, x : x + 8] for i, (y, x) in enumerate(zip(dy, dx))]
    return torch.stack(moved)


def train_classifier(images: Tensor, labels: Tensor) -> Digits:
    """The classifier, trained on pictures [n, 1, 8, 8] with labels [n]."""
    net = Digits()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    whole = len(images) // BATCH * BATCH
    steps = EPOCHS * (len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, steps)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(images))[:whole].split(BATCH):
            loss = nn.functional.cross_entropy(net(jitter(images[chosen])), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def main() -> None:
    """Runs the script."""
    torch.manual_seed(6)
    torch.set_num_threads(1)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images))
    test, train = order[:TEST_PICTURES], order[TEST_PICTURES:]
    net = train_classifier(images[train], labels[train])
    with torch.no_grad():
        probabilities = net(images[test]).softmax(1)
    accuracy = (probabilities.argmax(1) == labels[test]).float().mean().item()
    print(f"{len(test)} test pictures, {accuracy:.2%} right")
    metadata = {
        "data": SOURCE,
        "torch": torch.__version__.split("+")[0],
        "test_accuracy": f"{accuracy:.4f}",
    }
    entry = safetensors_file.tensor_entry
    weights = [entry(name, value) for name, value in net.state_dict().items()]
    safetensors_file.write_tensors(WEIGHTS, weights, metadata)
    tested = [
        entry("images", images[test][:, 0].half()),
        entry("labels", labels[test].half()),
        entry("probabilities", probabilities[:TEST_PROBABILITIES]),
    ]
    safetensors_file.write_tensors(TEST, tested, metadata)


if __name__ == "__main__":
    main()
