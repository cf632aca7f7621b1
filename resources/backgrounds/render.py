#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the sample backgrounds into this folder. Needs NumPy and Pillow; the same pictures come out every time.

Everything is painted in linear light and encoded to sRGB at the end, so that blurred lamps glow as they do in a photo.
"""
from pathlib import Path

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 1920, 1280
X, Y = np.meshgrid(np.linspace(0, WIDTH / HEIGHT, WIDTH), np.linspace(0, 1, HEIGHT))
RANDOM = np.random.default_rng(7)


def linear(hex_color):
    """The linear-light RGB of `#rrggbb`."""
    encoded = np.array([int(hex_color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def gradient(top, bottom, t):
    t = np.clip(t, 0, 1)[..., None]
    return linear(top) * (1 - t) + linear(bottom) * t


def soft_box(left, top, right, bottom, blur):
    """Coverage, 0 to 1, of a rectangle whose edges are `blur` wide."""
    edge = lambda d: 1 / (1 + np.exp(-np.clip(4 * d / blur, -60, 60)))
    return edge(X - left) * edge(right - X) * edge(Y - top) * edge(bottom - Y)


def add_lamp(picture, x, y, radius, color, strength):
    """A lamp far out of focus: a flat disc with a soft rim."""
    distance = np.hypot(X - x, Y - y)
    disc = 1 / (1 + np.exp(np.clip((distance - radius) / (0.08 * radius), -60, 60)))
    picture += disc[..., None] * linear(color) * strength


def save(name, picture):
    picture = picture + RANDOM.normal(0, 0.0006, picture.shape)  # a trace of grain keeps the gradients from banding
    picture = np.clip(picture, 0, 1)
    encoded = np.where(picture <= 0.0031308, picture * 12.92, 1.055 * picture ** (1 / 2.4) - 0.055)
    path = Path(__file__).parent / name
    Image.fromarray((encoded * 255 + 0.5).astype(np.uint8)).save(path, quality=84, optimize=True)
    print(path.name, path.stat().st_size, "bytes")


def studio():
    light = np.exp(-(((X - 0.55) / 0.75) ** 2 + ((Y - 0.32) / 0.62) ** 2))
    return gradient("#20262d", "#a9b7c4", light) * (1 - 0.25 * Y[..., None] ** 2)


def office():
    picture = gradient("#d8b48a", "#6b4a33", Y * 0.9 + 0.12 * X)
    picture += soft_box(0.08, 0.06, 0.52, 0.66, 0.05)[..., None] * linear("#fff1d6") * 0.8
    for bar in (0.225, 0.37):
        picture *= 1 - 0.35 * soft_box(bar, 0.06, bar + 0.015, 0.66, 0.03)[..., None]
    for shelf in (0.2, 0.42, 0.64):
        at = 0.8
        while at < 1.42:
            width, height = RANDOM.uniform(0.02, 0.06), RANDOM.uniform(0.09, 0.16)
            book = linear(RANDOM.choice(["#8c3b2a", "#3f5a5c", "#c99a4b", "#5a4632", "#d9c7a3", "#7b6a8a"]))
            cover = 0.85 * soft_box(at, shelf - height, at + width, shelf, 0.03)[..., None]
            picture = picture * (1 - cover) + book * cover
            at += width + RANDOM.uniform(0, 0.015)
        picture *= 1 - 0.55 * soft_box(0.76, shelf, 1.46, shelf + 0.02, 0.02)[..., None]
    picture *= 1 - 0.5 * soft_box(-1, 0.84, 3, 2, 0.12)[..., None]
    for x, y in ((0.66, 0.16), (1.16, 0.08), (0.63, 0.74)):
        add_lamp(picture, x, y, 0.055, "#ffd9a0", 0.5)
    return picture


def dusk():
    picture = gradient("#18264a", "#e08a5a", (Y / 0.62) ** 1.6)
    ground = soft_box(-1, 0.6, 3, 2, 0.1)[..., None]
    picture = picture * (1 - ground) + gradient("#3a2b3a", "#0c0f1a", (Y - 0.55) * 2.4) * ground
    for _ in range(70):
        x, y = RANDOM.uniform(-0.05, 1.55), RANDOM.normal(0.72, 0.08)
        color = RANDOM.choice(["#ffb56b", "#ffd9a0", "#ff7f5a", "#9fc4ff", "#fff3dc"])
        add_lamp(picture, x, y, RANDOM.uniform(0.015, 0.045), color, RANDOM.uniform(0.06, 0.35))
    return picture


for scene in (studio, office, dusk):
    save(scene.__name__ + ".jpg", scene())
