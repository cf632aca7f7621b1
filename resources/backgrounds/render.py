#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the sample backgrounds into this folder. Needs NumPy and Pillow; the same pictures come
out every time.

Everything is painted in linear light and encoded to sRGB at the end, so that blurred lamps glow as
they do in a photo.
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


def soft_step(distance, blur):
    """0 before an edge and 1 behind it, over a width of `blur`."""
    return 1 / (1 + np.exp(-np.clip(4 * distance / blur, -60, 60)))


def soft_box(left, top, right, bottom, blur):
    """Coverage, 0 to 1, of a rectangle whose edges are `blur` wide."""
    columns = soft_step(X - left, blur) * soft_step(right - X, blur)
    return columns * soft_step(Y - top, blur) * soft_step(bottom - Y, blur)


def add_lamp(picture, x, y, radius, color, strength):
    """A lamp far out of focus: a flat disc with a soft rim."""
    distance = np.hypot(X - x, Y - y)
    disc = 1 / (1 + np.exp(np.clip((distance - radius) / (0.08 * radius), -60, 60)))
    picture += disc[..., None] * linear(color) * strength


def save(name, picture):
    picture = picture + RANDOM.normal(
        0, 0.0006, picture.shape
    )  # a trace of grain keeps the gradients from banding
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
            book = linear(
                RANDOM.choice(["#8c3b2a", "#3f5a5c", "#c99a4b", "#5a4632", "#d9c7a3", "#7b6a8a"])
            )
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


def mix(picture, color, cover):
    """Paints `color` over the picture, `cover` of it at each pixel."""
    return picture * (1 - cover[..., None]) + color * cover[..., None]


def paint_book(picture, left, top, right, bottom, color, gilt):
    """One spine with a round back, painted into the part of the picture that it reaches."""
    pad = 0.012
    columns = slice(*(int(np.clip(v * HEIGHT, 0, WIDTH)) for v in (left - pad, right + pad)))
    rows = slice(*(int(np.clip(v * HEIGHT, 0, HEIGHT)) for v in (top - pad, bottom + pad)))
    x, y = X[rows, columns], Y[rows, columns]

    def edge(distance):
        return soft_step(distance, 0.009)

    cover = 0.94 * edge(x - left) * edge(right - x) * edge(y - top) * edge(bottom - y)
    spine = (
        color * (0.72 + 0.28 * np.cos((x - (left + right) / 2) / (right - left) * 2.4))[..., None]
    )
    part = mix(picture[rows, columns], spine, cover)
    if gilt:
        band = top + (bottom - top) * gilt
        line = (
            edge(x - left - 0.002)
            * edge(right - 0.002 - x)
            * edge(y - band)
            * edge(band + 0.007 - y)
        )
        part = mix(part, linear("#d8b25e"), 0.55 * line)
    picture[rows, columns] = part


def library():
    """A wall of books, a little out of focus, under two brass lamps."""
    picture = gradient("#5a3d28", "#2a1a10", Y * 0.8 + 0.2 * np.abs(X - 0.75))
    bindings = [
        "#6e2f25",
        "#33483f",
        "#8a6a35",
        "#3d2c20",
        "#a08a62",
        "#2f3b52",
        "#59323f",
        "#7a5a3c",
        "#c2ac82",
    ]
    for case in range(3):
        left = -0.02 + case * 0.53
        for shelf in range(6):
            base, at = 0.155 + shelf * 0.17, left + 0.03
            while at < left + 0.475:
                width, height = RANDOM.uniform(0.012, 0.034), RANDOM.uniform(0.105, 0.145)
                color = linear(RANDOM.choice(bindings)) * RANDOM.uniform(0.7, 1.25)
                gilt = RANDOM.uniform(0.15, 0.38) if RANDOM.uniform() < 0.55 else 0
                paint_book(picture, at, base - height, at + width, base, color, gilt)
                at += width + RANDOM.uniform(0.0005, 0.006)
            plank = soft_box(left + 0.005, base, left + 0.5, base + 0.018, 0.008)
            picture = mix(picture, linear("#4a2f1d") * 1.3, plank)
            picture *= (
                1 - 0.6 * soft_box(left, base + 0.016, left + 0.5, base + 0.05, 0.035)[..., None]
            )
        post = soft_box(left - 0.012, -1, left + 0.016, 2, 0.008)
        picture = mix(picture, linear("#5b3a24") * 1.25, post)
    for x in (0.4, 1.1):
        glow = np.exp(-(((X - x) / 0.42) ** 2 + ((Y - 0.3) / 0.5) ** 2))
        picture *= 0.55 + 1.5 * glow[..., None] * linear("#ffdfae")
    return picture


def loft():
    """A bright room in the morning: a window's light on a plaster wall, a plant, a low shelf."""
    picture = gradient("#e9e3da", "#c9c0b4", 0.25 * X + 0.75 * Y)
    for pane in range(6):
        row, column = divmod(pane, 3)
        left, top = 0.16 + 0.15 * column - 0.06 * row, 0.08 + 0.25 * row
        slanted = np.clip((X - (Y - 0.3) * -0.22), -9, 9)
        across = soft_step(slanted - left, 0.03) * soft_step(left + 0.13 - slanted, 0.03)
        light = across * soft_step(Y - top, 0.03) * soft_step(top + 0.22 - Y, 0.03)
        picture += light[..., None] * linear("#ffe2b8") * 0.55
    picture = mix(
        picture, gradient("#a58a6c", "#7d6650", (Y - 0.86) * 6), soft_box(-1, 0.865, 3, 2, 0.02)
    )
    picture *= 1 - 0.25 * soft_box(-1, 0.83, 3, 0.875, 0.05)[..., None]
    cabinet = soft_box(0.98, 0.66, 1.6, 0.9, 0.016)
    picture = mix(picture, gradient("#d9cbb8", "#b39f86", (Y - 0.64) * 4), cabinet)
    picture *= 1 - 0.3 * soft_box(1.275, 0.68, 1.283, 0.89, 0.012)[..., None]
    pot = soft_box(1.1, 0.555, 1.21, 0.665, 0.014)
    picture = mix(
        picture, linear("#b5654a") * (1.15 - 0.5 * np.abs((X - 1.14) / 0.08))[..., None], pot
    )
    for _ in range(18):
        turn, reach = RANDOM.uniform(-1.25, 1.25), RANDOM.uniform(0.1, 0.27)
        along = np.array([np.sin(turn), -np.cos(turn)])
        dx, dy = X - 1.155, Y - 0.565
        s = np.clip((dx * along[0] + dy * along[1]) / reach, 0, 1)
        sag = 0.05 * np.abs(turn) * s**2
        across = np.hypot(dx - along[0] * reach * s, dy - along[1] * reach * s - sag)
        width = 0.013 * np.sin(np.pi * np.clip(s, 0.02, 1)) + 0.001
        leaf = 1 / (1 + np.exp(np.clip((across - width) / 0.004, -60, 60)))
        green = linear(
            RANDOM.choice(["#3f6b45", "#57875a", "#2f5439", "#79a46c"])
        ) * RANDOM.uniform(0.8, 1.3)
        picture = mix(picture, green, 0.9 * leaf)
    return picture * (1 - 0.18 * ((X - 0.75) ** 2 + (Y - 0.45) ** 2)[..., None])


def stage():
    """A dark studio: charcoal paper, one light from the left, a rim of blue from the right."""
    left = np.exp(-(((X - 0.35) / 0.5) ** 2 + ((Y - 0.38) / 0.55) ** 2))
    right = np.exp(-(((X - 1.4) / 0.35) ** 2 + ((Y - 0.55) / 0.6) ** 2))
    picture = gradient("#0d0e11", "#3a3d44", left) + right[..., None] * linear("#2d4a86") * 0.7
    floor = soft_box(-1, 0.86, 3, 2, 0.16)[..., None]
    return picture * (1 - 0.35 * floor)


def blobs(base, colors):
    """A soft mesh of colours."""
    picture = np.broadcast_to(linear(base), (HEIGHT, WIDTH, 3)).copy()
    for color in colors:
        x, y, size = RANDOM.uniform(0, 1.5), RANDOM.uniform(0, 1), RANDOM.uniform(0.35, 0.75)
        picture = mix(
            picture, linear(color), 0.85 * np.exp(-(((X - x) ** 2 + (Y - y) ** 2) / size**2))
        )
    return picture


def lagoon():
    return blobs("#0f2f4a", ["#1f6f8b", "#3aa6a0", "#154a7a", "#7fd1c1", "#0b2038", "#2c5fa8"])


def sunrise():
    return blobs("#c96a52", ["#f2b56b", "#7d3b6b", "#f7d9a0", "#e58a6a", "#4a2d5e", "#f0a088"])


def main():
    for scene in (studio, office, dusk, library, loft, stage, lagoon, sunrise):
        save(scene.__name__ + ".jpg", scene())


if __name__ == "__main__":
    main()
