#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the video among the sample backgrounds into this folder: lamps far out of focus that
drift at dusk.

Needs NumPy and OpenCV (opencv-python-headless). Everything moves on closed paths, so that the end
meets the beginning.
"""

from pathlib import Path

import cv2
import numpy as np
from render import linear

WIDTH, HEIGHT, RATE, SECONDS = 960, 540, 24, 10
FRAMES = RATE * SECONDS
X, Y = np.meshgrid(np.linspace(0, WIDTH / HEIGHT, WIDTH), np.linspace(0, 1, HEIGHT))


def encoded(picture):
    """Linear light as sRGB bytes, B, G, R."""
    light = np.clip(picture, 0, 1)
    srgb = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return (srgb[..., ::-1] * 255 + 0.5).astype(np.uint8)


def lamps(random):
    """Place, size, colour and motion of each lamp: whole numbers of turns in a pass."""
    colors = ["#ffb066", "#ff8f5a", "#ffd9a0", "#8fb8ff", "#ff7f7f", "#ffe7c4"]
    for _ in range(26):
        yield {
            "x": random.uniform(-0.05, 1.85),
            "y": 0.62 + 0.2 * random.standard_normal(),
            "radius": random.uniform(0.03, 0.085),
            "color": linear(random.choice(colors)) * random.uniform(0.12, 0.5),
            "phase": random.uniform(0, 2 * np.pi),
            "turns": int(random.choice([-1, 1])),
            "drift": random.uniform(0.02, 0.06),
        }


def frame(sky, all_lamps, time):
    """`time` is from 0 to 1 through the pass."""
    picture = sky.copy()
    for lamp in all_lamps:
        angle = 2 * np.pi * lamp["turns"] * time + lamp["phase"]
        x, y = (
            lamp["x"] + lamp["drift"] * np.cos(angle),
            lamp["y"] + 0.4 * lamp["drift"] * np.sin(angle),
        )
        rim = np.clip((np.hypot(X - x, Y - y) - lamp["radius"]) / (0.1 * lamp["radius"]), -60, 60)
        glow = 0.75 + 0.25 * np.sin(2 * angle)
        picture += (glow / (1 + np.exp(rim)))[..., None] * lamp["color"]
    return encoded(picture)


def main():
    height = np.clip(Y, 0, 1)[..., None]
    sky = linear("#5a5f8f") * (1 - height) ** 1.5 + linear("#3a2f4f") * height
    all_lamps = list(lamps(np.random.default_rng(11)))
    target = str(Path(__file__).with_name("river.webm"))
    writer = cv2.VideoWriter(
        target, cv2.CAP_FFMPEG, cv2.VideoWriter_fourcc(*"VP80"), RATE, (WIDTH, HEIGHT)
    )
    for number in range(FRAMES):
        writer.write(frame(sky, all_lamps, number / FRAMES))
    writer.release()


if __name__ == "__main__":
    main()
