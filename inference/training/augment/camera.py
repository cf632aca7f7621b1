# SPDX-License-Identifier: Apache-2.0
"""What light and cameras do to a scene: colour, darkness, blur, noise and compression. All on batches of RGB in 0 to 1 [n, 3, H, W]."""
import math

import torch
from torch.nn import functional as F

from augment.scene import there

LUMA = (0.299, 0.587, 0.114)
BEHIND = 0.15  # share of pictures with other light behind the people than on them
SHADOWED = 0.15  # share of pictures in which people cast shadows that were not in their photos
SHARPENED = 0.3  # share of pictures that a camera has sharpened: many do, and large frames of small photos have blurred edges otherwise, where those of a camera are sharp


def column(values):
    return values.view(-1, 1, 1, 1)


def behind(image, alpha, random):
    """For some, other light behind the people of `alpha` [n, 1, H, W] than on them: a window, up to twelve times as bright, whose light spreads over them in the lens, or a dark
    room around somebody before a screen. Colours beyond 1 are lost, as in a camera."""
    chosen = random.subset(BEHIND, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    on_people, on_room = random.uniform(-0.9, 0.3, n, 1, 1, 1), random.uniform(-1.2, 1.6, n, 1, 1, 1)  # the logarithms of light
    tint = random.normal(0.12, n, 3, 1, 1)
    reach = gaussian(alpha[chosen], random.number(0.5, 3.0))  # of the light behind, around people
    lit = image[chosen] * torch.exp(torch.lerp(on_room + tint, on_people, reach))
    glare = F.adaptive_avg_pool2d((lit - 1).clamp_min(0), 12)
    lit = lit + random.uniform(0, 0.25, n, 1, 1, 1) * F.interpolate(glare, size=image.shape[2:], mode="bilinear", align_corners=False)
    return image.index_copy(0, chosen, lit.clamp(0, 1))


def cast(people, random):
    """Shadows of `people` [n, 1, H, W]: on a wall behind them, moved and larger, or on the ground from their feet, long and slanted, away from the camera or towards it."""
    n, _, height, width = people.shape
    across, down = (2 * torch.arange(0.5, side, device=people.device) / side - 1 for side in (width, height))
    mass = people.sum((1, 2)) + 1e-6
    feet = torch.stack([(mass * across).sum(1) / mass.sum(1), torch.where(people.amax((1, 3)) > 0.5, down, -1.0).amax(1)], 1)
    ground = random.chance(0.4, n).float()
    long = random.uniform(0.15, 1, n) * (1 - 2 * random.chance(0.3, n).float())  # on the ground, in heights of the person; below the feet where negative
    larger = random.uniform(0.95, 1.4, n)
    aside = torch.stack([random.normal(0.2, n), random.normal(0.1, n)], 1) * (1 - ground).view(-1, 1)
    back = torch.zeros(n, 2, 3, device=people.device)  # from a place in the shadow to the one that casts it
    back[:, 0, 0] = torch.lerp(1 / larger, torch.ones_like(larger), ground)
    back[:, 1, 1] = torch.lerp(1 / larger, 1 / long, ground)
    back[:, 0, 1] = random.normal(0.8, n) * ground * back[:, 1, 1]
    back[:, :, 2] = feet - (back[:, :, :2] @ (feet + aside).unsqueeze(2)).squeeze(2)
    grid = F.affine_grid(back, people.shape, align_corners=False)
    return F.grid_sample(people, grid, mode="bilinear", padding_mode="border", align_corners=False)


def shadows(image, alpha, random):
    """For some, the shadows that the people of `alpha` [n, 1, H, W] cast, hard or soft, on what is no person."""
    chosen = random.subset(SHADOWED, image.shape[0])
    n = len(chosen)
    if not n:
        return image
    people = alpha[chosen]
    shadow = gaussian(cast(people, random), max(image.shape[2:]) * math.exp(random.number(math.log(0.001), math.log(0.02))))
    light = random.uniform(0.15, 0.75, n, 1, 1, 1) * torch.exp(random.normal(0.06, n, 3, 1, 1))  # what is left of it there
    return image.index_copy(0, chosen, image[chosen] * torch.lerp(torch.ones_like(light), light, shadow * (1 - people)).clamp(0, 1))


def grey(image):
    return sum(share * image[:, i : i + 1] for i, share in enumerate(LUMA))


def colour(image, random, strength):
    """Exposure, gamma, contrast, saturation, white balance and, for some, coloured light, light from one side or a lamp, near darkness or no colour at all."""
    n = image.shape[0]
    lamp = 0.07 + 0.2 * column(random.chance(0.15, n).float())  # white balance, or coloured light
    gain = torch.exp(random.normal(0.20 * strength, n, 1, 1, 1) + lamp * random.normal(strength, n, 3, 1, 1))
    gamma = torch.exp(random.normal(0.22 * strength, n, 1, 1, 1))
    contrast = torch.exp(random.normal(0.18 * strength, n, 1, 1, 1))
    saturation = torch.exp(random.normal(0.25 * strength, n, 1, 1, 1)) * (1 - column(random.chance(0.04 * strength, n).float()))
    dark = column(random.chance(0.12 * strength, n).float()) * random.uniform(0.3, 0.85, n, 1, 1, 1)
    image = image * gain
    lit = random.subset(0.2, n)
    if len(lit):
        uneven = random.normal(0.8 * strength, len(lit), 1, 3, 3)  # the logarithm of light, smooth across the frame
        image[lit] *= torch.exp(F.interpolate(uneven, size=image.shape[2:], mode="bilinear", align_corners=False))
    image = image.clamp(1e-4, 1) ** gamma * (1 - dark)
    level = image.mean((1, 2, 3), keepdim=True)
    image = level + (image - level) * contrast
    return torch.lerp(grey(image), image, saturation).clamp(0, 1)


def gaussian(image, sigma):
    radius = max(1, math.ceil(2.5 * sigma))
    taps = torch.exp(-0.5 * (torch.arange(-radius, radius + 1, device=image.device).float() / sigma) ** 2)
    return separable(image, taps / taps.sum())


def separable(image, taps):
    channels, radius = image.shape[1], len(taps) // 2
    row = taps.to(image.dtype).view(1, 1, 1, -1).expand(channels, 1, 1, -1)
    image = F.conv2d(F.pad(image, (radius, radius, 0, 0), mode="replicate"), row, groups=channels)
    return F.conv2d(F.pad(image, (0, 0, radius, radius), mode="replicate"), row.transpose(2, 3), groups=channels)


def streak(image, length, angle):
    """Motion blur: the mean along a line of `length` pixels."""
    radius = max(1, round(length / 2))
    kernel = torch.zeros(2 * radius + 1, 2 * radius + 1)
    for i in range(4 * radius + 1):
        t = i / 2 - radius
        kernel[round(radius + t * math.sin(angle)), round(radius + t * math.cos(angle))] += 1
    kernel = (kernel / kernel.sum()).to(image, non_blocking=True).expand(image.shape[1], 1, -1, -1)
    return F.conv2d(F.pad(image, (radius,) * 4, mode="replicate"), kernel, groups=image.shape[1])


def optics(image, alpha, random, strength):
    """Defocus, motion (which smears the matte as well), small sensors and sharpening. Some pictures of a batch get each."""
    n, _, height, width = image.shape
    moved = random.subset(0.08 * strength, n)
    if len(moved):
        both = torch.cat([image[moved], alpha[moved]], 1)
        both = streak(both, random.number(2, 0.035 * max(height, width)), random.number(0, math.pi))
        image[moved], alpha[moved] = both[:, :3], both[:, 3:]
    blurred = random.subset(0.15 * strength, n)
    if len(blurred):
        image[blurred] = gaussian(image[blurred], random.number(0.4, 2.0))
    coarse = random.subset(0.12 * strength, n)
    if len(coarse):
        factor = random.number(0.35, 0.8)
        small = F.interpolate(image[coarse], size=[int(height * factor), int(width * factor)], mode="bilinear", align_corners=False, antialias=True)
        image[coarse] = F.interpolate(small, size=(height, width), mode="bicubic", align_corners=False).clamp(0, 1)
    sharp = random.subset(SHARPENED, n)
    if len(sharp):
        detail = image[sharp] - gaussian(image[sharp], random.number(0.5, 2.0))
        image[sharp] = (image[sharp] + random.uniform(0.3, 1.5, len(sharp), 1, 1, 1) * detail).clamp(0, 1)
    return image, alpha


def noise(image, random, strength):
    """Shot and read noise, stronger in a few pictures, fine or (after a camera's own scaling) coarse, colour and grey."""
    n, _, height, width = image.shape
    deviation = random.uniform(0, 1, n, 1, 1, 1) ** 3 * 0.09 * strength + 0.003
    fine = torch.randn_like(image)
    coarse = F.interpolate(torch.randn(n, 3, height // 2, width // 2, device=image.device), size=(height, width), mode="bilinear", align_corners=False)
    grain = torch.lerp(fine, 1.4 * coarse, random.uniform(0, 1, n, 1, 1, 1))
    grain = torch.lerp(grain, grain.mean(1, keepdim=True) * 1.6, random.uniform(0, 1, n, 1, 1, 1))
    return (image + grain * deviation * (0.4 + image.clamp_min(0).sqrt())).clamp(0, 1)


def cosines(device):
    """The 8-point orthonormal DCT-II, [8, 8]."""
    k, x = torch.arange(8.0, device=device).view(8, 1), torch.arange(8.0, device=device).view(1, 8)
    basis = torch.cos(math.pi / 8 * (x + 0.5) * k) * 0.5
    basis[0] *= math.sqrt(0.5)
    return basis


def compressed(image, random):
    """JPEG without its entropy coding: 8x8 blocks of luma and chroma rounded to steps that grow with frequency; chroma also at half size."""
    n, _, height, width = image.shape
    y = grey(image)
    chroma = F.avg_pool2d(image - y, 2)
    basis = cosines(image.device)
    k = torch.arange(8.0, device=image.device)
    growth = 1 + 0.9 * (k.view(8, 1) + k.view(1, 8))  # roughly the standard's luma table over its first entry

    def rounded(plane, step):
        _, c, h, w = plane.shape
        blocks = plane[:, :, : h // 8 * 8, : w // 8 * 8].reshape(n, c, h // 8, 8, w // 8, 8)
        spectrum = torch.einsum("ki,nchiwj,lj->nchwkl", basis, blocks, basis)
        table = growth * step.view(-1, 1, 1, 1, 1, 1)
        spectrum = torch.round(spectrum / table) * table
        out = plane.clone()
        out[:, :, : h // 8 * 8, : w // 8 * 8] = torch.einsum("ki,nchwkl,lj->nchiwj", basis, spectrum, basis).reshape(n, c, h // 8 * 8, w // 8 * 8)
        return out

    step = torch.exp(random.uniform(math.log(0.01), math.log(0.12), n))
    chroma = F.interpolate(rounded(chroma, 1.3 * step), size=(height, width), mode="bilinear", align_corners=False)
    return (rounded(y, step) + chroma).clamp(0, 1)


def record(image, random, strength=1.0):
    """Noise and compression: what differs from one frame of a still scene to the next."""
    image = noise(image, random, strength)
    packed = random.subset(0.35 * strength + 0.05, image.shape[0])
    if len(packed):
        image[packed] = compressed(image[packed], random)
    return image


def paths(n, size, random):
    """Where each pixel of a frame was in the one before, as grid_sample takes it, [n, H, W, 2]: half of them moved by up to two pixels, as noise and a shaken desk do it; the others
    aside by up to a tenth of the frame, nearer or farther by some hundredths and turned by some degrees, as somebody moves."""
    extent = there(torch.tensor([size[1], size[0]]).float(), random.device)
    far = random.chance(0.5, n).float()
    aside = torch.lerp(random.uniform(-2, 2, n, 2) / extent, random.uniform(-0.1, 0.1, n, 2), far.view(-1, 1)) * 2
    zoom, angle = torch.exp(random.normal(0.04, n) * far), random.normal(math.radians(2), n) * far
    back = torch.empty(n, 2, 3, device=random.device)
    back[:, 0, 0], back[:, 1, 1] = zoom * angle.cos(), zoom * angle.cos()
    back[:, 0, 1], back[:, 1, 0] = -zoom * angle.sin() * size[0] / size[1], zoom * angle.sin() * size[1] / size[0]
    back[:, :, 2] = aside
    return F.affine_grid(back, (n, 1, *size), align_corners=False)


def moved(planes, where):
    """`planes` [n, c, H, W] as the next frame shows them, by paths(); their outermost pixels go on."""
    return F.grid_sample(planes, where, mode="bilinear", padding_mode="border", align_corners=False)


def stayed(where, margin=3):
    """Which pixels of the next frame the one before shows as well, not nearer than `margin` pixels to its edge: [n, 1, H, W]."""
    slack = [1 - 2 * margin / side for side in (where.shape[2], where.shape[1])]
    return ((where[..., 0].abs() < slack[0]) & (where[..., 1].abs() < slack[1])).unsqueeze(1).float()
