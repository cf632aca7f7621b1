#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpora into corpus/: one small file for each rule that a reader checks, so that
the fuzzers start behind the first checks and not before them. Needs Python 3 alone; the same files
come out every time."""

import json
import struct
import zlib
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


# Safetensors files.


def with_header(header, data=b"", length=None):
    text = (
        header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    )
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def conv(outputs, inputs, kernel):
    """The shape of a convolution's weights."""
    return [outputs, inputs, kernel, kernel]


def unet_tensors(widths):
    """Names and shapes of a U-Net with one width a level."""
    yield from (
        (f"down{n}.conv1.weight", conv(w, i, 3))
        for n, (w, i) in enumerate(zip(widths, [3, *widths]), 1)
    )
    yield from ((f"down{n}.conv2.weight", conv(w, w, 3)) for n, w in enumerate(widths, 1))
    for n, (low, high) in enumerate(zip(widths[::-1], widths[-2::-1]), 1):
        yield f"up{n}.upconv.weight", conv(low, high, 2)
        yield f"up{n}.conv1.weight", conv(high, 2 * high, 3)
        yield f"up{n}.conv2.weight", conv(high, high, 3)
        yield from (
            (f"up{n}.bn2.{part}", [high])
            for part in ("weight", "bias", "running_mean", "running_var")
        )
    yield "out.weight", conv(1, widths[0], 1)
    yield "out.bias", [1]


def mobile_tensors():
    """The same with a stem and bottlenecks at the second and third level."""
    yield "down1.conv1.weight", conv(1, 3, 3)
    yield "down2.conv1.weight", conv(2, 3, 3)
    yield "down2.block1.conv2.weight", conv(2, 1, 3)
    yield "down2.block1.conv3.weight", conv(1, 2, 1)
    for block, inputs in (("down3.block1", 1), ("down3.block2", 2)):
        yield f"{block}.conv1.weight", conv(3, inputs, 1)
        yield f"{block}.conv2.weight", conv(3, 1, 5)
        yield f"{block}.conv3.weight", conv(2, 3, 1)
        yield from (
            (f"{block}.bn3.{part}", [2])
            for part in ("weight", "bias", "running_mean", "running_var")
        )
    for level, below in (("up1", 2), ("up2", 1)):
        yield f"{level}.upconv.weight", conv(below, 1, 2)
        yield f"{level}.conv1.weight", conv(1, 2, 3)
    yield "out.weight", conv(1, 1, 1)


def cell_tensors(level, channels):
    """Those of a ConvGRU cell."""
    for part, outputs in (("gates", channels), ("candidate", channels // 2)):
        yield f"{level}.gru.{part}.weight", conv(outputs, channels, 3)
        yield f"{level}.gru.{part}.bias", [outputs]


def model(tensors, dtype, fill, metadata=None):
    header, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, shape in tensors:
        elements = 1
        for side in shape:
            elements *= side
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [at, at + elements * len(fill)],
        }
        at += elements * len(fill)
    return with_header(header, fill * (at // len(fill)))


def entry(begin, end, dtype="F32", shape=(1,)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def safetensors():
    good = {
        "unet3_f32": model(unet_tensors([1, 1, 1]), "F32", struct.pack("<f", 0.5)),
        "unet3_f16": model(
            unet_tensors([1, 2, 3]),
            "F16",
            b"\x00\x38",
            {"bn_eps": "1e-5", "longest_side": "320", "photo_side": "384"},
        ),
        "unet4_bf16": model(unet_tensors([1, 1, 1, 1]), "BF16", b"\x00\x3f"),
        "unet3_gru": model([*unet_tensors([1, 2, 3]), *cell_tensors("up1", 2)], "F16", b"\x00\x38"),
        "unet3_gru_odd": model(
            [*unet_tensors([1, 2, 3]), *cell_tensors("up2", 1)], "F16", b"\x00\x38"
        ),
        "unet3_gru_half": model(
            [*unet_tensors([1, 2, 3]), *list(cell_tensors("up1", 2))[:2]], "F16", b"\x00\x38"
        ),
        "unet3_nan": model(unet_tensors([1, 1, 1]), "F16", b"\x00\x7e"),
        "unet3_negative_variance": model(unet_tensors([1, 1, 1]), "F16", b"\x00\xb8"),
        "unet2_too_few_levels": model(unet_tensors([1, 1]), "F16", b"\x00\x38"),
        "unet3_no_channels": model(unet_tensors([0, 0, 0]), "F16", b"\x00\x38"),
        "mobile3_f16": model(mobile_tensors(), "F16", b"\x00\x38"),
        "mobile3_negative_variance": model(mobile_tensors(), "F16", b"\x00\xb8"),
        "unet3_bad_metadata": model(
            unet_tensors([1, 1, 1]), "F16", b"\x00\x38", {"bn_eps": "-7", "longest_side": "nan"}
        ),
        "no_tensors": with_header({}),
        "scalar": with_header({"a": entry(0, 4, shape=())}, b"\0" * 4),
        "empty_tensor": with_header({"a": entry(0, 0, shape=(0, 7))}),
    }
    broken = {
        "empty": b"",
        "short": b"\x08\0\0",
        "header_length_huge": with_header(b"{}", length=2**64 - 1),
        "header_length_past_end": with_header(b"{}", length=99),
        "header_cut": with_header(b'{"a":{"dtype":"F32"'),
        "header_no_object": with_header(b"[1,2]"),
        "header_not_utf8": with_header(b'{"\xff\xfe":1}'),
        "header_deep": with_header(b'{"a":' + b"[" * 600 + b"]" * 600 + b"}"),
        "duplicate_name": with_header(
            b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
            b"\0" * 4,
        ),
        "overlap": with_header({"a": entry(0, 4), "b": entry(2, 6)}, b"\0" * 6),
        "gap": with_header({"a": entry(0, 4), "b": entry(8, 12)}, b"\0" * 12),
        "left_over": with_header({"a": entry(0, 4)}, b"\0" * 9),
        "past_end": with_header({"a": entry(0, 4)}, b"\0"),
        "reversed": with_header({"a": entry(4, 0)}, b"\0" * 4),
        "wrong_dtype": with_header({"a": entry(0, 4, dtype="I32")}, b"\0" * 4),
        "wrong_size": with_header({"a": entry(0, 4, shape=(2,))}, b"\0" * 4),
        "shape_overflows": with_header({"a": entry(0, 4, shape=(2**62, 8))}, b"\0" * 4),
        "shape_negative": with_header({"a": entry(0, 4, shape=(-1, -1))}, b"\0" * 4),
        "shape_fraction": with_header({"a": entry(0, 4, shape=(1.5,))}, b"\0" * 4),
        "metadata_number": with_header({"__metadata__": {"a": 1}}),
    }
    for name, content in {**good, **broken}.items():
        write("safetensors", name, content)


# Pictures.


def tiff(order, value, tag=0x0112, kind=3, count=1, offset=8, entries=1):
    header = b"II*\0" if order == "<" else b"MM\0*"
    field = struct.pack(order + "HHI", tag, kind, count) + struct.pack(order + "HH", value, 0)
    return header + struct.pack(order + "IH", offset, entries) + field + struct.pack(order + "I", 0)


def jpeg(*segments):
    body = b"".join(
        b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
        for marker, data in segments
    )
    return b"\xff\xd8" + body + b"\xff\xda\0\x02\xff\xd9"


def png(*chunks):
    body = b"".join(struct.pack(">I", len(data)) + kind + data + b"\0" * 4 for kind, data in chunks)
    return b"\x89PNG\r\n\x1a\n" + body


def webp(*chunks):
    body = b"".join(
        kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
        for kind, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def pictures():
    exif, icc = b"Exif\0\0", b"ICC_PROFILE\0"
    jfif = (0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0")
    header = (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    files = {
        "jpeg_6": jpeg(jfif, (0xE1, exif + tiff("<", 6))),
        "jpeg_8_big_endian": jpeg((0xE1, exif + tiff(">", 8))),
        "jpeg_behind_xmp": jpeg(
            (0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>"), (0xE1, exif + tiff("<", 3))
        ),
        "jpeg_fill_bytes": b"\xff\xd8\xff\xff\xff" + jpeg((0xE1, exif + tiff("<", 5)))[3:],
        "jpeg_none": jpeg(jfif),
        "jpeg_cut": jpeg((0xE1, exif + tiff("<", 6)))[:30],
        "jpeg_zero_length": b"\xff\xd8\xff\xe1\0\0" + exif,
        "png_7": png(header, (b"eXIf", tiff(">", 7)), (b"IDAT", b"\0")),
        "png_behind_data": png(header, (b"IDAT", b"\0\0"), (b"eXIf", tiff("<", 2)), (b"IEND", b"")),
        "png_length_huge": png(header)[:8] + b"\xff\xff\xff\xffeXIf",
        "webp_4": webp(
            (b"VP8X", b"\x08" + b"\0" * 9), (b"VP8 ", b"\0" * 5), (b"EXIF", tiff("<", 4))
        ),
        "webp_with_prefix": webp((b"EXIF", exif + tiff(">", 2))),
        "webp_length_huge": webp()[:12] + b"EXIF\xff\xff\xff\xff",
        "jpeg_profile": jpeg((0xE2, icc + b"\x02\x02cd"), (0xE2, icc + b"\x01\x02ab")),
        "jpeg_profile_part_missing": jpeg((0xE2, icc + b"\x02\x03cd"), (0xE2, icc + b"\x01\x03ab")),
        "jpeg_profile_part_255": jpeg(
            (0xE2, icc + b"\xff\xffab"), (0xE2, icc + b"\0\x01ab"), (0xE2, icc + b"\x01")
        ),
        "png_profile": png(header, (b"iCCP", b"name\0\0" + zlib.compress(b"profile"))),
        "png_profile_cut": png(header, (b"iCCP", b"name\0\0" + zlib.compress(b"profile")[:5])),
        "png_profile_huge": png(
            header, (b"iCCP", b"name\0\0" + zlib.compress(b"\0" * (5 << 20), 9))
        ),
        "png_profile_no_name": png(header, (b"iCCP", b"\0")),
        "webp_profile": webp(
            (b"VP8X", b"\x20" + b"\0" * 9), (b"ICCP", b"abc"), (b"VP8 ", b"\0" * 5)
        ),
        "tiff_profile": tiff("<", 6, tag=0x8773, kind=7, count=4),
        "tiff_profile_past_end": tiff(">", 6, tag=0x8773, kind=7, count=0x7FFFFFFF),
        "tiff_5": tiff("<", 5),
        "tiff_6_big_endian": tiff(">", 6),
        "tiff_0": tiff("<", 0),
        "tiff_9": tiff(">", 9),
        "tiff_wrong_type": tiff("<", 6, kind=12),
        "tiff_no_values": tiff("<", 6, count=0),
        "tiff_offset_past_end": tiff("<", 6, offset=0xFFFFFFF0),
        "tiff_offset_itself": tiff("<", 6, offset=0),
        "tiff_many_entries": tiff("<", 6, tag=0x0100, entries=0xFFFF),
        "empty": b"",
        "text": b"this is no picture",
    }
    for name, content in files.items():
        write("picture", name, content)


# Background options.


def background():
    texts = [
        "", "blur", "blur:1", "blur:100", "blur:33.3", "blur:", "blur:0", "blur:101", "blur:nan",
        "blur:1e1", "blur:0x10", "blur: 5", "color:#00b140", "color:#FFFFFF", "color:#fff",
        "color:00b140", "color:#00b14g", "color:", "image:a b.jpg", "image:/x:y.png", "image:",
        "transparent", "transparent:1", "checkers", ":", "blur:50\0", "blur:10.1777777777",
        "video:a b.mp4", "video:", "./beach.jpg", "video:a:/b.webm"
    ]  # fmt: skip
    for number, text in enumerate(texts):
        write("background", f"{number:02}", text.encode())


def main():
    safetensors()
    pictures()
    background()
    print(sum(1 for path in CORPUS.rglob("*") if path.is_file()), "files")


if __name__ == "__main__":
    main()
