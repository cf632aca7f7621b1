#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the classifier of inference/baselines/ops/digits.h on scikit-learn's 8x8 digits (Alpaydin, Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
Repository, 1998, CC BY 4.0) and writes its weights and its test split. Needs python3-torch and python3-sklearn; half a minute on one core. Run from the root of the source tree:

    python3 inference/training/train/digits.py
"""
import json
import struct

import torch
from sklearn.datasets import load_digits
from torch import nn

WEIGHTS, TEST = "inference/baselines/ops/digits.safetensors", "tests/data/digits_test.safetensors"
SOURCE = "Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998, CC BY 4.0"


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.out(x.flatten(1))


def save(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, (values, kind) in tensors.items():
        raw = values.contiguous().numpy().astype({"F32": "<f4", "F16": "<f2"}[kind]).tobytes()
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def jittered(images):
    """Each picture moved by up to one pixel: the digits are centred only roughly."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2, len(images)))
    return torch.stack([padded[i, :, y:y + 8, x:x + 8] for i, (y, x) in enumerate(zip(dy, dx))])


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images))
    test, train = order[:360], order[360:]
    net = Digits()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    epochs, batch = 60, 64
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, epochs * (len(train) // batch))
    for _ in range(epochs):
        for chosen in train[torch.randperm(len(train))][:len(train) // batch * batch].split(batch):
            loss = nn.functional.cross_entropy(net(jittered(images[chosen])), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with torch.no_grad():
        probabilities = net(images[test]).softmax(1)
    accuracy = (probabilities.argmax(1) == labels[test]).float().mean().item()
    print(f"{len(test)} test pictures, {accuracy:.2%} right")
    about = {"data": SOURCE, "torch": torch.__version__.split("+")[0], "test_accuracy": f"{accuracy:.4f}"}
    save(WEIGHTS, {name: (value, "F32") for name, value in net.state_dict().items()}, about)
    save(TEST, {"images": (images[test][:, 0], "F16"), "labels": (labels[test].float(), "F16"),
                "probabilities": (probabilities[:40], "F32")}, about)


if __name__ == "__main__":
    main()
