# SPDX-License-Identifier: Apache-2.0
"""What changes in the course of training, as functions of its progress, 0 to 1."""

import math

# Aspect ratios of frames, height to width: photos of people are upright, cameras are not.
ASPECT_RATIOS = [(12, 9), (12, 9), (12, 9), (12, 8), (12, 10), (11, 11), (9, 12), (8, 12), (7, 12)]
# Longest sides of frames, and their sampling weights at the start and at the end. Small frames
# teach more pictures a second, but a network for every size must see every size.
SIZES = [192, 256, 320, 384, 448, 512, 640, 768]
SIZE_WEIGHTS_START = [4, 7, 5, 4, 1, 1, 0.5, 0.5]
SIZE_WEIGHTS_END = [0.5, 5, 4, 7, 8, 9, 3, 3]
STILL_FRAMES = 2  # of a scene in which nothing moves
# Progress at which batch norm is frozen, as it is in the engines. The statistics of one frame size
# are not those of another, and the weights need time to adapt to statistics that hold for all
# sizes.
FREEZE_BATCH_NORM_AT = 0.6


def ramp(progress: float, begin: float, end: float) -> float:
    """0 before `begin`, 1 after `end`, linear between."""
    return min(1.0, max(0.0, (progress - begin) / (end - begin)))


def learning_rate_factor(progress: float) -> float:
    """Factor of the peak learning rate: linear warm-up over the first 2%, then a cosine down to
    1%."""
    progress = min(1.0, progress)
    cosine = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress))
    return min(1.0, (progress + 1e-3) / 0.02) * cosine


def augmentation_strength(progress: float) -> float:
    """Full at first; half of it towards the end, where scenes come nearer to photos as they are."""
    return 1.0 - 0.5 * ramp(progress, 0.6, 0.9)


def size_weights(progress: float, preferred: int | None = None) -> list[float]:
    """Sampling weight of each of SIZES. A `preferred` size gets half of all frames, and its share
    of the others."""
    late = ramp(progress, 0.3, 0.7)
    weights = [a + (b - a) * late for a, b in zip(SIZE_WEIGHTS_START, SIZE_WEIGHTS_END)]
    if preferred is None:
        return weights
    return [w + (sum(weights) if size == preferred else 0) for size, w in zip(SIZES, weights)]


def moving_share(progress: float) -> float:
    """Share of the batches whose scenes move."""
    return 0.35 + 0.2 * ramp(progress, 0.0, 0.4)


def sequence_frames(longest: float) -> int:
    """Frames of a moving scene, by the longest side of the frames in pixels: large ones are few."""
    return 7 if longest <= 320 else 6 if longest <= 448 else 5 if longest <= 512 else 4


def loss_weights(progress: float) -> dict[str, float]:
    """Weight of each loss. Probabilities come first, then the matte: L1 leaves fewer pixels
    undecided than cross-entropy does."""
    late = ramp(progress, 0.5, 0.9)
    return {
        "bce": 1.0 - 0.6 * late,
        "l1": 1.0 + 1.5 * late,
        "laplacian": 0.6,
        "soft_iou": 0.6 + 0.6 * late,
        "auxiliary": 0.3 - 0.2 * late,
        "temporal": 0.5 + 0.5 * late,
    }
