"""An ONNX file, written without the package of that name: values by name, nodes between them.

The file is a Protocol Buffers message. Of that format a graph needs little: numbers of seven
bits a byte, and fields that carry their length. The bytes are those that the ``onnx`` package
would write; a test compares them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast import compat

OPSET = 18
IR_VERSION = 9  # old enough for every onnxruntime that the package allows
CONTRIB = "com.microsoft"

# Codes of the format.
FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
_TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7
_NUMBER, _BYTES, _FLOAT32 = 0, 2, 5  # how a field is written
_UNSIGNED = (1 << 64) - 1  # a negative number is written as its two's complement


class Graph:
    """Nodes and constants as they are added; values are known by name, as in ONNX."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}

    def op(self, kind: str, *inputs: str, domain: str = "", output: str = "", **how: Any) -> str:
        """Adds a node and returns the name of what it gives; ``how`` are its attributes."""
        name = output or f"{kind}_{len(self._nodes)}"
        node = [_text(1, one) for one in inputs]
        node += [_text(2, name), _text(3, name), _text(4, kind)]
        node += [_message(5, _attribute(key, how[key])) for key in sorted(how)]
        node.append(_text(7, domain))
        self._nodes.append(b"".join(node))
        return name

    def contrib(self, kind: str, *inputs: str, **how: Any) -> str:
        """A node of those that only onnxruntime knows."""
        return self.op(kind, *inputs, domain=CONTRIB, **how)

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        """A single number becomes a row of one."""
        self._constants[name] = _tensor(name, np.atleast_1d(np.asarray(value, dtype=dtype)))
        return name

    def file(
        self,
        name: str,
        inputs: Sequence[str],
        output: str,
        shape: Sequence[str | int],
        version: int,
        *,
        wide: Mapping[str, int] | None = None,
    ) -> bytes:
        """The whole file: ``inputs`` are tables of numbers, one text a row; those of ``wide`` have
        so many decimal numbers for each token."""
        tokens = [_value(one, INT64, ["texts", "tokens"]) for one in inputs]
        tokens += [
            _value(one, FLOAT, ["texts", "tokens", size]) for one, size in (wide or {}).items()
        ]
        graph = b"".join(
            [
                *(_message(1, node) for node in self._nodes),
                _text(2, name),
                *(_message(5, constant) for constant in self._constants.values()),
                *(_message(11, one) for one in tokens),
                _message(12, _value(output, FLOAT, shape)),
            ]
        )
        opsets = [_text(1, "") + _number(2, OPSET), _text(1, CONTRIB) + _number(2, 1)]
        return b"".join(
            [
                _number(1, IR_VERSION),
                _text(2, compat.ONNX_PRODUCER),
                _text(3, str(version)),
                _message(7, graph),
                *(_message(8, one) for one in opsets),
            ]
        )


def _attribute(name: str, value: float | int | Sequence[int]) -> bytes:
    start = _text(1, name)
    if isinstance(value, float):
        stored = _key(2, _FLOAT32) + struct.pack("<f", value)
        return start + stored + _number(20, _ATTRIBUTE_FLOAT)
    if isinstance(value, int):
        return start + _number(3, value) + _number(20, _ATTRIBUTE_INT)
    return start + b"".join(_number(8, one) for one in value) + _number(20, _ATTRIBUTE_INTS)


def _tensor(name: str, value: NDArray[Any]) -> bytes:
    sizes = b"".join(_number(1, size) for size in value.shape)
    stored = value.astype(value.dtype.newbyteorder("<")).tobytes()
    return sizes + _number(2, _TYPES[value.dtype.name]) + _text(8, name) + _message(9, stored)


def _value(name: str, kind: int, shape: Iterable[str | int]) -> bytes:
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    dimensions = b"".join(_message(1, size) for size in sizes)
    tensor = _number(1, kind) + _message(2, dimensions)
    return _text(1, name) + _message(2, _message(1, tensor))


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, content: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _key(field, _NUMBER) + _varint(value & _UNSIGNED)


def _key(field: int, how: int) -> bytes:
    return _varint(field << 3 | how)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
