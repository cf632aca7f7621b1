# SPDX-License-Identifier: Apache-2.0
"""Training scenes: people cut out of their photos, cropped, turned and set before other backgrounds, beside furniture and each other. Everything is a batch of tensors on the
accelerator; random numbers that steer come from a CPU generator, so that a seed gives the same scenes and nothing waits for the accelerator."""
import math

import torch
from torch.nn import functional as F

EMPTY = 0.06  # share of scenes without a person
REPLACED = 0.36  # share with another background
COMPANY = (0.14, 0.07, 0.05)  # shares with another person, drawn one after the other: up to three more
FURNITURE = 0.20  # share with blocks at the frame's edges
TILTED = 0.12  # share held far from upright
BARS = 0.03  # share of replaced backgrounds of one colour
LIKE_HAIR = 0.25  # share of replaced backgrounds about as light or dark, and of the colour, as the hair before them
ALONE, BESIDE = 0.3, 0.5  # the least height, in frames, of a photo set into another one: a passer-by far behind somebody is left out in many labels
UNLIKE = 0.4  # how often a photo is drawn for a frame of another shape, of which it fills only a part, beside one of the frame's shape


def there(values, device):
    """A few `values` from the CPU, on `device`, without waiting until that has done all it was told before."""
    return values.to(device, non_blocking=True)


class Random:
    """Vectors of random numbers from one CPU generator, moved to `device`."""

    def __init__(self, seed, device):
        self.generator = torch.Generator().manual_seed(seed)
        self.device = device

    def uniform(self, low, high, *shape):
        return there(torch.rand(*shape, generator=self.generator) * (high - low) + low, self.device)

    def normal(self, deviation, *shape):
        return there(torch.randn(*shape, generator=self.generator) * deviation, self.device)

    def chance(self, probability, n):
        return self.uniform(0, 1, n) < probability

    def subset(self, probability, n):
        """Indices of a random part of n; how many is drawn too."""
        count = int((torch.rand(n, generator=self.generator) < probability).sum())
        return there(torch.randperm(n, generator=self.generator)[:count], self.device)

    def number(self, low, high):
        return low + (high - low) * float(torch.rand(1, generator=self.generator))

    def draw(self, weights, n):
        return torch.multinomial(weights, n, replacement=True, generator=self.generator)

    def among(self, choices, n):
        return choices[torch.randint(len(choices), (n,), generator=self.generator)]


def warp(photos, index, centre, scale, angle, flip, size):
    """[n, 4, H, W] floats in 0 to 1: pixel p of the output shows the photo at centre + R(angle) (scale * (p - middle)), and whether that lies in the photo [n, 1, H, W].

    centre [n, 2] and scale [n, 2] are in pixels of the photo (x, y); beyond the photo's edge its outermost pixels go on.
    """
    height, width = size
    device = centre.device
    x = (torch.arange(width, device=device) + 0.5 - width / 2).view(1, 1, width) * (scale[:, 0] * flip).view(-1, 1, 1)
    y = (torch.arange(height, device=device) + 0.5 - height / 2).view(1, height, 1) * scale[:, 1].view(-1, 1, 1)
    cos, sin = torch.cos(angle).view(-1, 1, 1), torch.sin(angle).view(-1, 1, 1)
    position = torch.stack([cos * x - sin * y, sin * x + cos * y], -1) + centre.view(-1, 1, 1, 2)
    extent = photos.sizes[there(index, device)].view(-1, 1, 1, 2)
    inside = ((position >= 0) & (position <= extent)).all(-1).unsqueeze(1)
    position = torch.minimum(position.clamp_min(0.5), extent - 0.5)
    source = photos.pixels[there(index, device)].float() / 255
    side = source.shape[-1]
    return F.grid_sample(source, position * (2 / side) - 1, mode="bilinear", padding_mode="border", align_corners=False), inside


def crop(photos, index, size, random, strength):
    """A window of each photo: from half of it to all that fits, slightly stretched and turned."""
    n, extent = len(index), photos.sizes[there(index, photos.sizes.device)]
    frame = there(torch.tensor([size[1], size[0]]).float(), extent.device)
    fit = (extent / frame).amin(1, keepdim=True)
    zoom = 1 - random.chance(0.65, n) * random.uniform(0, 0.15 + 0.4 * strength, n)
    stretch = torch.exp(random.normal(0.08 * strength, n))
    scale = fit * zoom.view(-1, 1) * torch.stack([stretch, 1 / stretch], 1)
    # A photo whose shape is near the frame's is shown whole, a little distorted, as the program shows it to the network.
    whole = extent / frame
    near = (whole.amax(1) / whole.amin(1) < 1.25) & random.chance(0.4 + 0.4 * (1 - strength), n)
    scale = torch.where(near.view(-1, 1), whole, scale)
    scale = torch.minimum(scale, whole)
    room = (extent - scale * frame).clamp_min(0)
    centre = extent / 2 + room * (random.uniform(0, 1, n, 2) - 0.5)
    angle = random.normal(math.radians(7) * strength, n) * random.chance(0.6, n)
    angle = angle.clamp(-0.5, 0.5) + random.normal(math.radians(35), n) * random.chance(TILTED * strength, n)
    return warp(photos, index, centre, scale, angle, sign(random, n), size)


def place(photos, index, size, least, random, strength):
    """Each photo set into a frame that may be larger than it, anywhere from left to right: its lower edge at the frame's or below it, or above it if the whole person is seen."""
    n, own = len(index), there(index, photos.sizes.device)
    extent, standing = photos.sizes[own], photos.touch[own, 3] < 0.01
    height, width = size
    share = torch.exp(random.uniform(math.log(least), math.log(1.35), n))  # the photo's height in frames
    scale = extent[:, 1] / (share * height)
    across = extent[:, 0] / 2 + scale * width * random.uniform(-0.4, 0.4, n)
    sunk = random.uniform(0, 0.25, n) * random.chance(0.6, n)
    raised = random.uniform(0, 0.6, n) * (1 - share).clamp_min(0) * standing
    down = extent[:, 1] * (1 - sunk) + scale * height * (raised - 0.5)
    angle = random.normal(math.radians(3) * strength, n)
    centre = torch.stack([across, down], 1)
    # Turned about the lower edge, a corner of it would rise into the frame.
    centre[:, 1] -= angle.abs() * scale * width / 2
    pixels, inside = warp(photos, index, centre, torch.stack([scale, scale], 1), angle, sign(random, n), size)
    return torch.cat([pixels[:, :3], pixels[:, 3:] * inside], 1)


def sign(random, n):
    return 1 - 2 * random.chance(0.5, n).float()


def feathered(alpha, random):
    """A matte a little smaller and softer than `alpha`, so that a cut-out carries no rim of its old background."""
    tight = random.uniform(0.05, 0.25, alpha.shape[0], 1, 1, 1)
    alpha = ((alpha - tight) / (1 - 1.6 * tight)).clamp(0, 1)
    soft = F.avg_pool2d(F.pad(alpha, (1, 1, 1, 1), mode="replicate"), 3, stride=1)
    return torch.lerp(alpha, soft, random.uniform(0, 1, alpha.shape[0], 1, 1, 1))


def painted(n, size, random):
    """Flat walls: one colour to another across the frame, with broad and faint unevenness, some in lit panels."""
    coarse = random.uniform(0, 1, n, 3, 2, 2)
    coarse = torch.lerp(coarse.mean((2, 3), keepdim=True), coarse, random.uniform(0, 0.7, n, 1, 1, 1))
    rough = random.normal(0.1, n, 1, 6, 6) * random.uniform(0, 1, n, 1, 1, 1) ** 2
    panels = random.normal(0.25, n, 1, 4, 4) * random.chance(0.3, n).view(-1, 1, 1, 1)
    smooth = [F.interpolate(layer, size=size, mode="bilinear", align_corners=False) for layer in (coarse, rough)]
    return (smooth[0] + smooth[1] + F.interpolate(panels, size=size, mode="nearest")).clamp(0, 1)


def rooms(backgrounds, n, size, random, strength):
    """Photos of rooms and painted walls, some out of focus."""
    index = torch.randint(len(backgrounds), (n,), generator=random.generator)
    image = crop(backgrounds, index, size, random, strength)[0][:, :3]
    walls = random.subset(0.3, n)
    image[walls] = painted(len(walls), size, random)
    soft = random.subset(0.4, n)
    factor = random.number(2, 10)
    small = F.adaptive_avg_pool2d(image[soft], [max(2, int(v / factor)) for v in size])
    image[soft] = F.interpolate(small, size=size, mode="bicubic", align_corners=False).clamp(0, 1)
    return image


def mean_colour(image, weight):
    return (image * weight).sum((2, 3), keepdim=True) / (weight.sum((2, 3), keepdim=True) + 1)


def relit(background, person, alpha, random):
    """The background with its mean colour and contrast moved some way towards the person's, so that a cut-out does not give itself away by its light alone; some most of the
    way to the colour of the person's uppermost tenth: dark hair before a dark wall."""
    n = background.shape[0]
    rows = alpha.sum(3, keepdim=True)
    above = rows.cumsum(2) - rows
    hair = mean_colour(person, alpha * (above < 0.1 * rows.sum(2, keepdim=True)))
    alike = random.chance(LIKE_HAIR, n).view(-1, 1, 1, 1)
    mean = background.mean((2, 3), keepdim=True)
    shift = torch.where(alike, (hair - mean) * random.uniform(0.7, 1.0, n, 1, 1, 1), (mean_colour(person, alpha) - mean) * random.uniform(-0.2, 0.8, n, 1, 1, 1))
    return (mean + shift + (background - mean) * random.uniform(0.5, 1.2, n, 1, 1, 1)).clamp(0, 1)


def each(values):
    return values.view(-1, 1, 1, 1)


def block(size, centre, angle, half, corner, blur):
    """Rounded rectangles, turned by `angle`, in frames of `size` whose sides go from -1 to 1: where they are [n, 1, H, W], and each pixel's place across and down in them, -1 to 1 at their
    sides. `centre` and `half`, their half sides, are pairs; all numbers are [n, 1, 1, 1]."""
    device = angle.device
    x = torch.linspace(-1, 1, size[1], device=device).view(1, 1, 1, -1) - centre[0]
    y = torch.linspace(-1, 1, size[0], device=device).view(1, 1, -1, 1) - centre[1]
    u, v = x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()
    distance = torch.hypot((u.abs() - half[0] + corner).clamp_min(0), (v.abs() - half[1] + corner).clamp_min(0)) - corner
    return torch.sigmoid(-distance / blur), u / half[0], v / half[1]


def furniture(image, alpha, random):
    """Blocks with rounded corners that reach in from the frame's edges, most of them dark, behind people or now and then before them."""
    n = image.shape[0]
    on_side = each(random.chance(0.6, n))
    along, edge = random.uniform(-1, 1, n, 1, 1, 1), random.uniform(0.85, 1.25, n, 1, 1, 1) * each(sign(random, n))
    centre = torch.where(on_side, edge, along), torch.where(on_side, along, edge)
    half = random.uniform(0.08, 0.6, n, 1, 1, 1), random.uniform(0.15, 1.0, n, 1, 1, 1)
    corner, blur = random.uniform(0, 0.12, n, 1, 1, 1), random.uniform(0.002, 0.02, n, 1, 1, 1)
    cover, u, v = block(image.shape[2:], centre, random.normal(0.12, n, 1, 1, 1), half, corner, blur)
    dark = random.uniform(0, 0.2, n, 1, 1, 1) + random.normal(0.02, n, 3, 1, 1)
    colour = torch.where(each(random.chance(0.7, n)), dark, random.uniform(0, 1, n, 3, 1, 1))
    shade = 1 + random.uniform(-0.2, 0.2, n, 1, 1, 1) * u + random.uniform(-0.3, 0.3, n, 1, 1, 1) * v
    in_front = each(random.chance(0.15, n)) * (half[0] < 0.3)
    cover = cover * torch.where(in_front, torch.ones_like(alpha), 1 - alpha)
    return torch.lerp(image, (colour * shade).clamp(0, 1), cover), alpha * torch.where(in_front, 1 - cover, torch.ones_like(alpha))


def compose(people, backgrounds, n, size, random, strength=1.0):
    """(RGB [n, 3, H, W], alpha [n, 1, H, W], soft bool [n]) for a frame of `size` (H, W). Strength 0 to 1: how far scenes stray from the photos."""
    like = (people.slant - math.log(size[0] / size[1])).abs() < math.log(1.4)
    index = random.draw(people.weight * torch.where(like, 1.0, UNLIKE), n)
    pixels, _ = crop(people, index, size, random, strength)
    image, alpha = pixels[:, :3], pixels[:, 3:]
    soft = people.soft[there(index, image.device)]

    replaced = random.subset(REPLACED, n)
    if len(replaced):
        room = rooms(backgrounds, len(replaced), size, random, strength)
        cut, cut_alpha = image[replaced], alpha[replaced]
        wide = torch.arange(len(replaced) // 2)
        if len(wide) and len(people.placeable):
            chosen = random.among(people.placeable, len(wide))
            pixels = place(people, chosen, size, ALONE, random, strength)
            cut[: len(wide)], cut_alpha[: len(wide)] = pixels[:, :3], pixels[:, 3:]
            soft[replaced[: len(wide)]] = people.soft[there(chosen, image.device)]
        bars = random.subset(BARS, len(replaced))
        room[bars] = random.uniform(0, 0.1, len(bars), 3, 1, 1)
        cut_alpha = feathered(cut_alpha, random)
        room = relit(room, cut, cut_alpha, random)
        image[replaced], alpha[replaced] = torch.lerp(room, cut, cut_alpha), cut_alpha

    empty = random.subset(EMPTY, n)
    if len(empty):
        image[empty], alpha[empty] = rooms(backgrounds, len(empty), size, random, strength), torch.zeros_like(alpha[empty])

    for share in COMPANY:
        company = random.subset(share, n)
        if len(company) and len(people.placeable):
            pixels = place(people, random.among(people.placeable, len(company)), size, BESIDE, random, strength)
            other = feathered(pixels[:, 3:], random)
            image[company] = torch.lerp(image[company], pixels[:, :3], other)
            alpha[company] = 1 - (1 - alpha[company]) * (1 - other)

    for share in (FURNITURE, FURNITURE / 2):
        blocks = random.subset(share, n)
        if len(blocks):
            image[blocks], alpha[blocks] = furniture(image[blocks], alpha[blocks], random)
    return image, alpha, soft
