"""tirc.relax.frontend.onnx: files of ONNX as modules with a graph."""

import os
import re
import tempfile

from ... import _model
from ..._module import _new


def from_onnx(model, shape_dict=None, dtype_dict="float32", opset=None, keep_params_in_input=False, sanitize_input_names=True):
    """A module of a model: what onnx.load gives, its bytes, or the path of a file. shape_dict: shapes of inputs, for extents that the
    file leaves open. The module has its weights with it; with keep_params_in_input relax.frontend.detach_params takes them out.
    Names of inputs become identifiers; types and the opset are the file's."""
    if dtype_dict not in (None, "float32") or opset is not None:
        raise ValueError("types and the opset are those of the file: leave dtype_dict and opset out")
    if not sanitize_input_names:
        raise ValueError("names of inputs become identifiers; by the file's names: tirc.compile(path)(**{\"input.1\": x})")
    with tempfile.TemporaryDirectory() as folder:
        path = model
        if not isinstance(model, (str, os.PathLike, bytes)) and not hasattr(model, "SerializeToString"):
            raise TypeError("a model is what onnx.load gives, its bytes or a path, not a %s" % type(model).__name__)
        if not isinstance(model, (str, os.PathLike)):
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as f:
                f.write(model if isinstance(model, bytes) else model.SerializeToString())
        imported = _model.read_model(path, {})
        if shape_dict:
            imported = _model.read_model(path, _extents(imported, dict(shape_dict)))
        mod = _new(imported)
        mod._params = _model.weights_of(imported)
    del keep_params_in_input  # they are parameters of main either way
    return mod


def _extents(module, shapes):
    """{name of an extent: number}, of the shapes that inputs are to have."""
    from ..._module import IRModule
    text, names = IRModule._of(module).script(), _model._file_names(module)
    head = re.search(r"def main\((.*?)\)\s*(?:->|:\s*$)", text, re.S | re.M).group(1)
    known = re.findall(r"(\w+): R\.Tensor\(\((.*?)\)(?:, dtype=)?", head, re.S)
    out = {}
    for name, shape in shapes.items():
        if name not in names:
            raise ValueError("there is no input %r; the inputs are %s" % (name, ", ".join(names)))
        extents = [e.strip().strip('"') for e in known[names[name]][1].split(",") if e.strip()]
        if len(extents) != len(shape):
            raise ValueError("the input %s has %d dimensions, not %d" % (name, len(extents), len(shape)))
        for is_, wanted in zip(extents, shape):
            if is_.isidentifier() and isinstance(wanted, int):
                if out.setdefault(is_, wanted) != wanted:
                    raise ValueError("the extent %s is %d and %d" % (is_, out[is_], wanted))
            elif is_.isdigit() and int(is_) != wanted:
                raise ValueError("the input %s has the extent %s, not %s" % (name, is_, wanted))
    return out


__all__ = ["from_onnx"]
