"""Files of ONNX, as bytes: the few messages of its schema that a model of one node needs."""

import struct

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
         "uint32": 12, "uint64": 13}


def _varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def _int(field, n):
    return _varint(field << 3) + _varint(n)


def _bytes(field, data):
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def tensor(array, name=""):
    array = np.asarray(array)
    return b"".join(_int(1, d) for d in array.shape) + _int(2, TYPES[str(array.dtype)]) + _bytes(8, name) + _bytes(9, array.tobytes())


def _attribute(name, v):
    head = _bytes(1, name)
    if isinstance(v, float):
        return head + _varint(2 << 3 | 5) + struct.pack("<f", v) + _int(20, 1)
    if isinstance(v, (bool, int)):
        return head + _int(3, int(v)) + _int(20, 2)
    if isinstance(v, str):
        return head + _bytes(4, v) + _int(20, 3)
    if isinstance(v, np.ndarray):
        return head + _bytes(5, tensor(v)) + _int(20, 4)
    if v and isinstance(v[0], str):
        return head + b"".join(_bytes(9, each) for each in v) + _int(20, 8)
    if v and isinstance(v[0], float):
        return head + b"".join(_varint(7 << 3 | 5) + struct.pack("<f", each) for each in v) + _int(20, 6)
    return head + b"".join(_int(8, each) for each in v) + _int(20, 7)


def _value(name, array):
    dims = b"".join(_bytes(1, _int(1, d)) for d in array.shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _int(1, TYPES[str(array.dtype)]) + _bytes(2, dims)))


def model(op, inputs, outputs, opset, attributes):
    """One node; an input may be None (left out). Its operands are inputs of the model."""
    node = b"".join(_bytes(1, "" if a is None else "x%d" % i) for i, a in enumerate(inputs))
    domain, name = op.rsplit(".", 1) if "." in op else ("", op)
    node += b"".join(_bytes(2, "y%d" % i if a is not None else "") for i, a in enumerate(outputs)) + _bytes(4, name) + _bytes(7, domain)
    node += b"".join(_bytes(5, _attribute(k, v)) for k, v in attributes.items())
    graph = _bytes(1, node) + _bytes(2, "one")
    graph += b"".join(_bytes(11, _value("x%d" % i, a)) for i, a in enumerate(inputs) if a is not None)
    graph += b"".join(_bytes(12, _value("y%d" % i, np.asarray(a))) for i, a in enumerate(outputs) if a is not None)
    return _int(1, 9) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _int(2, opset))
