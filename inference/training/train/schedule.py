# SPDX-License-Identifier: Apache-2.0
"""What changes in the course of training, as functions of how much of it is done (0 to 1)."""
import math

# Frames by their proportions, height to width: photos of people stand, cameras lie.
SHAPES = [(12, 9), (12, 9), (12, 9), (12, 8), (12, 10), (11, 11), (9, 12), (8, 12), (7, 12)]
# Longest sides and how often each is drawn, at first and at last: small frames teach more pictures a second, and a network that is to work at every size must see them all.
SIZES = [192, 256, 320, 384, 448, 512, 640, 768]
SHARES_FIRST = [4, 7, 5, 4, 1, 1, 0.5, 0.5]
SHARES_LAST = [1.5, 15, 5, 6, 3, 6, 3, 7]
# From here on batch norm keeps the statistics it has, as it does in the engines: those of one size of frame are not those of another, and
# the weights need time to suit statistics that hold for all sizes.
SETTLED = 0.6


def ramp(done, begin, end):
    """0 before `begin`, 1 after `end`, straight between."""
    return min(1.0, max(0.0, (done - begin) / (end - begin)))


def rate(done):
    """The learning rate's share of its peak: up over the first 2%, then a cosine down to 1%."""
    done = min(1.0, done)
    return min(1.0, (done + 1e-3) / 0.02) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))


def strength(done):
    """Of augmentation: full at first; towards the end it leads half of the way back to photos as they are."""
    return 1.0 - 0.5 * ramp(done, 0.6, 0.9)


def size_shares(done, favoured=None):
    """How often each of SIZES is drawn: `favoured` for half of all frames, and by its share of the others."""
    late = ramp(done, 0.3, 0.7)
    shares = [a + (b - a) * late for a, b in zip(SHARES_FIRST, SHARES_LAST)]
    if favoured is None:
        return shares
    return [share + (sum(shares) if size == favoured else 0) for size, share in zip(SIZES, shares)]


def twins(done):
    """The share of a batch that appears twice, to teach steadiness."""
    return 0.12 if done < 0.5 else 0.2


def loss_weights(done):
    """The right probabilities first, then the right matte: L1 leaves fewer pixels undecided than cross-entropy does."""
    late = ramp(done, 0.5, 0.9)
    return {"bce": 1.0 - 0.6 * late, "l1": 1.0 + 1.5 * late, "pyramid": 0.6, "overlap": 0.6 + 0.6 * late, "aux": 0.3 - 0.2 * late, "steady": 1.0 + late}
