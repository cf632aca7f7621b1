# SPDX-License-Identifier: Apache-2.0
"""Safetensors files: the size of the header as u64, a JSON header, the bytes of the tensors. Needs
the standard library alone."""

import json
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Name, type ("F16", "F32"), shape and little-endian bytes.
Entry = tuple[str, str, Sequence[int], bytes]


def read(path: str) -> tuple[dict[str, Any], bytearray]:
    """The header of a file, and the bytes behind it."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size)), bytearray(file.read())


def write(path: str, header: Mapping[str, Any], data: bytes | bytearray) -> None:
    """Writes or replaces a file; one that exists stays whole until then."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    part = path + ".part"
    with open(part, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    os.replace(part, path)


def tensor_entry(name: str, tensor: "Tensor") -> Entry:
    """The entry of a tensor in half or single precision."""
    raw = tensor.detach().cpu().contiguous().numpy()
    dtype = {"float16": "F16", "float32": "F32"}[raw.dtype.name]
    return name, dtype, tensor.shape, raw.astype(raw.dtype.newbyteorder("<")).tobytes()


def write_tensors(path: str, tensors: Iterable[Entry], metadata: Mapping[str, str]) -> None:
    """Writes a file of `tensors`, in their order, with `metadata`."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    data = bytearray()
    for name, dtype, shape, raw in tensors:
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}
        data += raw
    write(path, header, data)
