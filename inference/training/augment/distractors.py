# SPDX-License-Identifier: Apache-2.0
"""Things in scenes of people: held before them, which belong to them, and standing near them or leant on, which do not. Those are drawn alike, so that only where they are tells which is
which. And clothes that nobody wears."""
import math

import torch
from torch.nn import functional as F

from augment import scene
from augment.scene import each

HELD = 0.15  # share of scenes in which somebody holds a thing
NEARBY = 0.15  # share in which a thing stands behind people or beside them, and of empty rooms too
LEANT_ON = 0.12  # share in which a person leans on one as large as he is
HUNG = 0.12  # share in which somebody's clothes hang behind people or in an empty room
WORN = (0.25, 0.7)  # of a person from head to foot, by area: where his clothes begin and end, but for the trousers
CELLS = 24  # a frame is so many across and down where it is looked for a place


def shape(area, sizes, random):
    """Half sides and corners of things, from a box to an egg, `sizes` the least and the greatest part of the side of a square that fills a frame's `area` [n, 1, 1, 1]."""
    n, (least, greatest) = len(area), sizes
    half = [area.clamp_min(0.01).sqrt() * torch.exp(random.uniform(math.log(least), math.log(greatest), n, 1, 1, 1)) for _ in range(2)]
    return half, torch.minimum(*half) * random.uniform(0, 1, n, 1, 1, 1) ** 0.5


def drawn(likely, area, sizes, size, backgrounds, random, strength):
    """Things where `likely` [n, 1, CELLS, CELLS] is great, more or less: what they look like [n, 3, H, W], a piece of a photo or of one colour, lit from one side and here and there
    in folds; where they are [n, 1, H, W]."""
    n = len(likely)
    place = (likely * random.uniform(0.2, 1, n, 1, CELLS, CELLS)).flatten(1).argmax(1)
    centre = [each((cell + 0.5) * 2 / CELLS - 1) for cell in (place % CELLS, torch.div(place, CELLS, rounding_mode="floor"))]
    half, corner = shape(area, sizes, random)
    cover, u, v = scene.block(size, centre, random.normal(0.5, n, 1, 1, 1), half, corner, random.uniform(0.001, 0.005, n, 1, 1, 1))
    plain = torch.where(each(random.chance(0.5, n)), random.uniform(0, 1, n, 1, 1, 1) + random.normal(0.03, n, 3, 1, 1), random.uniform(0, 1, n, 3, 1, 1))
    thing = torch.where(each(random.chance(0.5, n)), scene.rooms(backgrounds, n, size, random, strength), plain)
    light = 1 + random.normal(0.2, n, 1, 1, 1) * u + random.normal(0.2, n, 1, 1, 1) * v - random.uniform(0, 0.4, n, 1, 1, 1) * (u * u + v * v) / 2
    folds = F.interpolate(random.normal(0.5, n, 1, 9, 7), size=size, mode="bicubic", align_corners=False) * random.uniform(-0.3, 0.3, n, 1, 1, 1).clamp_min(0)
    return (thing * (light + folds)).clamp(0, 1), cover


def held(image, alpha, backgrounds, random, strength):
    """In some scenes a thing before a person, below the head and here and there behind an arm. In every matte of `alpha` [n, any, H, W], of which the first tells where people are,
    it belongs to the person: labels disagree about what is held, users do not."""
    chosen = random.subset(HELD, image.shape[0])
    n, size = len(chosen), image.shape[2:]
    if not n:
        return image, alpha
    person = alpha[chosen, :1]
    coarse = F.adaptive_avg_pool2d(person, CELLS)
    rows, area = coarse.sum(3, keepdim=True), coarse.mean((1, 2, 3), keepdim=True)
    body = coarse * (rows.cumsum(2) > 0.5 * rows.sum(2, keepdim=True))
    aside = 1.2 - 0.8 * F.avg_pool2d(coarse, 5, stride=1, padding=2, count_include_pad=False)  # more often where it reaches beyond the person
    thing, cover = drawn(body * aside, area, (0.1, 0.55), size, backgrounds, random, strength)
    cover = cover * (area > 0.01)
    arm = F.interpolate(random.normal(1, n, 1, 5, 5), size=size, mode="bilinear", align_corners=False)
    seen = cover * (1 - person * torch.sigmoid(20 * (arm - 0.4)))
    image = image.index_copy(0, chosen, torch.lerp(image[chosen], thing, seen))
    return image, alpha.index_copy(0, chosen, torch.maximum(alpha[chosen], cover))


def behind(image, alpha, chosen, place, sizes, backgrounds, random, strength):
    """Puts a thing that belongs to nobody behind the people of the `chosen` scenes, where `place` of these people [n, 1, CELLS, CELLS] is great. `alpha` [n, any, H, W] as in `held`: what
    the other mattes took for a person there is hidden."""
    if not len(chosen):
        return image, alpha
    person = alpha[chosen, :1]
    coarse = F.adaptive_avg_pool2d(person, CELLS)
    area = coarse.mean((1, 2, 3), keepdim=True).clamp_min(0.05)
    thing, cover = drawn(place(coarse), area, sizes, image.shape[2:], backgrounds, random, strength)
    return hidden(image, alpha, chosen, thing, cover)


def hidden(image, alpha, chosen, thing, cover):
    """The `chosen` scenes with a `thing` where `cover` is and no person, and none of its mattes there."""
    cover = cover * (1 - alpha[chosen, :1])
    return image.index_copy(0, chosen, torch.lerp(image[chosen], thing, cover)), alpha.index_copy(0, chosen, alpha[chosen] * (1 - cover))


def nearby(image, alpha, backgrounds, random, strength):
    """In some scenes a thing behind people, most often touching their outline."""
    chosen = random.subset(NEARBY, image.shape[0])
    return behind(image, alpha, chosen, lambda person: F.max_pool2d(person, 5, stride=1, padding=2) - person + 0.05, (0.25, 1.2), backgrounds, random, strength)


def leant_on(image, alpha, backgrounds, random, strength, share=LEANT_ON):
    """In a `share` of scenes a pillow, a chair's back or a sofa: a thing behind head and shoulders, about as large as the person or larger."""
    chosen = random.subset(share, image.shape[0])

    def upper(person):
        rows = person.sum(3, keepdim=True)
        return person * (rows.cumsum(2) < 0.6 * rows.sum(2, keepdim=True)) + 0.01

    return behind(image, alpha, chosen, upper, (0.6, 1.8), backgrounds, random, strength)


def hung(image, alpha, people, random):
    """In some scenes a coat on a hook or a chair: what somebody of another photo has on, without his head, more often dark, behind people or alone. It belongs to nobody."""
    chosen = random.subset(HUNG, image.shape[0])
    n, size = len(chosen), image.shape[2:]
    if not n or not len(people.whole):
        return image, alpha
    index = random.among(people.whole, n)
    own = scene.there(index, image.device)
    extent, frame = people.sizes[own], scene.there(torch.tensor([size[1], size[0]]).float(), image.device)
    height, narrow = random.uniform(0.8, 2.5, n), random.uniform(1, 2, n)  # of the photo in frames; how much thinner clothes are than who wears them
    scale = (extent[:, 1] / (height * size[0])).view(-1, 1) * torch.stack([narrow, torch.ones_like(narrow)], 1)
    place = torch.stack([random.uniform(-0.5, 0.5, n), random.uniform(-0.15, 0.4, n)], 1) * frame  # of the photo's middle, from the frame's
    centre = extent / 2 - scale * place
    pixels, inside = scene.warp(people, index, centre, scale, torch.zeros_like(narrow), scene.sign(random, n), size)
    part = people.pixels[own, 3].sum(2, dtype=torch.float32).cumsum(1)
    first, last = ((part < share * part[:, -1:]).sum(1, keepdim=True) for share in WORN)  # rows of the photo
    row = centre[:, 1:] + (torch.arange(size[0], device=image.device) + 0.5 - size[0] / 2) * scale[:, 1:]
    between = ((row - first) / scale[:, 1:]).clamp(0, 1) * ((last - row) / scale[:, 1:]).clamp(0, 1)
    cloth = pixels[:, 3:] * inside * between.view(n, 1, -1, 1)
    dark = torch.where(each(random.chance(0.6, n)), random.uniform(0.05, 0.4, n, 1, 1, 1), random.uniform(0.4, 1, n, 1, 1, 1))
    return hidden(image, alpha, chosen, pixels[:, :3] * dark, cloth)
