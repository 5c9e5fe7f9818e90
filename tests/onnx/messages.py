"""ONNX files by hand: as much of protocol buffers as the tests write, without a library."""
import struct

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
         "uint32": 12, "uint64": 13, "bfloat16": 16}


def number(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(key, value):
    """A number, a text or bytes."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(value)) + value


def tensor(array, name=""):
    array = np.asarray(array)
    return (b"".join(field(1, e) for e in array.shape) + field(2, TYPES[str(array.dtype)]) +
            (field(8, name) if name else b"") + field(9, np.ascontiguousarray(array).tobytes()))


def external_tensor(array, name, location, offset=0, length=None):
    entries = {"location": location, "offset": offset, "length": array.nbytes if length is None else length}
    return (b"".join(field(1, e) for e in array.shape) + field(2, TYPES[str(array.dtype)]) + field(8, name) + field(14, 1) +
            b"".join(field(13, field(1, key) + field(2, str(value))) for key, value in entries.items()))


def single(key, value):
    return number(key << 3 | 5) + struct.pack("<f", value)


def attribute(name, value):
    """An int, a float, a text, a tensor, a graph's bytes, or a list of ints, floats or texts."""
    many = not isinstance(value, (int, float, str, bytes, np.ndarray))
    first = value[0] if many and len(value) else value
    if isinstance(first, float):
        return field(1, name) + (b"".join(single(7, v) for v in value) + field(20, 6) if many else single(2, value) + field(20, 1))
    if isinstance(first, str):
        return field(1, name) + (b"".join(field(9, v) for v in value) + field(20, 8) if many else field(4, value) + field(20, 3))
    if isinstance(value, bytes):  # a graph
        return field(1, name) + field(6, value) + field(20, 5)
    if isinstance(value, np.ndarray):
        return field(1, name) + field(5, tensor(value)) + field(20, 4)
    return field(1, name) + (b"".join(field(8, int(v)) for v in value) + field(20, 7) if many else field(3, int(value)) + field(20, 2))


def node(op, inputs, outputs, name="", domain="", **attributes):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + (field(3, name) if name else b"") +
            field(4, op) + b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) + (field(7, domain) if domain else b""))


def value(name, dtype, shape):
    """shape: numbers, and names of extents."""
    dims = b"".join(field(1, field(2, e) if isinstance(e, str) else field(1, e)) for e in shape)
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype]) + field(2, dims)))


def graph(nodes, inputs, outputs, initializers=()):
    return (b"".join(field(1, n) for n in nodes) + field(2, "test") + b"".join(field(5, t) for t in initializers) +
            b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs))


def reference(name, of):
    """An attribute of a node in a function: that of the node which calls the function."""
    return field(1, name) + field(21, of)


def function(name, domain, inputs, outputs, nodes, attributes=(), defaults=None, opset=17):
    """attributes: the names of those without a default."""
    return (field(1, name) + b"".join(field(4, i) for i in inputs) + b"".join(field(5, o) for o in outputs) + b"".join(field(6, a) for a in attributes) +
            b"".join(field(7, n) for n in nodes) + field(9, field(1, "") + field(2, opset)) + field(10, domain) +
            b"".join(field(11, attribute(k, v)) for k, v in (defaults or {}).items()))


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=()):
    return (field(1, 8) + field(8, field(1, "") + field(2, opset)) + field(7, graph(nodes, inputs, outputs, initializers)) +
            b"".join(field(25, f) for f in functions))
