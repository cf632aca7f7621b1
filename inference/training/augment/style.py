# SPDX-License-Identifier: Apache-2.0
"""Pictures in other colours than their photos have: in another picture's, or in a few flat ones. What is a person must not hang on that."""
import math

import torch
from torch.nn import functional as F

from augment.scene import each, rooms

TONED = 0.12  # share of pictures in the light of another
DRAWN = 0.06  # share in which people are drawn: in areas of one colour or of few, with a sharp outline


def toned(image, backgrounds, random):
    """Some pictures with the mean and the deviation of each colour that a photo of a room has, more or less: the room's lamp, dusk or fog (after Reinhard et al., "Color Transfer
    between Images", 2001, in RGB)."""
    chosen = random.subset(TONED, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    own, other = image[chosen], rooms(backgrounds, n, (64, 64), random, 1.0)
    share = random.uniform(0.3, 1, n, 1, 1, 1)
    mean, wanted = (planes.mean((2, 3), keepdim=True) for planes in (own, other))
    spread, wanted_spread = (planes.std((2, 3), keepdim=True) + 0.02 for planes in (own, other))
    contrast = torch.lerp(torch.ones_like(spread), (wanted_spread / spread).clamp(0.4, 2), share)
    return image.index_copy(0, chosen, (torch.lerp(mean, wanted, share) + (own - mean) * contrast).clamp(0, 1))


def drawn(image, alpha, random):
    """In some pictures the people of `alpha` [n, 1, H, W], and in half of those what is behind them, in smooth areas of few colours: cartoons, avatars, posters. Outlines between people and
    what is behind them stay as sharp as they were."""
    chosen = random.subset(DRAWN, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    person, photo = alpha[chosen], image[chosen]
    scale = math.exp(random.number(math.log(4), math.log(24)))  # what is smaller than so many pixels of a frame of 384 is left out
    small = [max(2, round(side * 384 / max(image.shape[2:]) / scale)) for side in image.shape[2:]]
    levels = random.number(3, 12)  # of each colour

    def painted(share):
        inside = F.adaptive_avg_pool2d(share, small) + 1e-3
        colours = F.adaptive_avg_pool2d(photo * share + 1e-3 * photo, small) / inside
        return torch.round(F.interpolate(colours, size=image.shape[2:], mode="bilinear", align_corners=False) * levels) / levels

    behind = torch.where(each(random.chance(0.5, n)), painted(1 - person), photo)
    return image.index_copy(0, chosen, torch.lerp(behind, painted(person), person).clamp(0, 1))
