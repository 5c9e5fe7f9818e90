"""tirc.relax.frontend: models from files."""

from . import onnx


def detach_params(mod):
    """(module, {"main": [tensors]}): the weights of an imported model apart, in the order of main's parameters behind its inputs."""
    from .._weights import as_inputs
    return as_inputs(mod)


def __getattr__(name):
    from ... import _doors
    return _doors.missing("tirc.relax.frontend", name)


__all__ = ["detach_params", "onnx"]
