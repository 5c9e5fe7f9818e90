"""Modules of PyTorch, by way of the file of ONNX that its own exporter writes."""

import os
import tempfile


def is_module(value):
    """Without importing PyTorch: whoever has a module of its has imported it."""
    return any(c.__name__ == "Module" and c.__module__ == "torch.nn.modules.module" for c in type(value).__mro__)


def _arguments(example):
    if example is None:
        raise ValueError("PyTorch's exporter runs the module once: tirc.compile(module, example) takes what it is called with, a tensor or a tuple of them")
    return tuple(example) if isinstance(example, (tuple, list)) else (example,)


def _export(module, arguments, path, dynamic_shapes):
    import torch
    if hasattr(torch.onnx, "ONNXProgram"):  # since 2.5, by torch.export
        more = {} if dynamic_shapes is None else {"dynamic_shapes": dynamic_shapes}
        program = torch.onnx.export(module, arguments, dynamo=True, verbose=False, **more)
        program.save(path)
    elif dynamic_shapes is not None:
        raise ValueError("dynamic_shapes is for PyTorch 2.5 and later, and this is %s" % torch.__version__)
    else:
        torch.onnx.export(module, arguments, path)


def exported(module, example, dynamic_shapes, use):
    """What `use` gives of the file's path. The module is exported as it is in use, not as it is trained, and left as it was."""
    arguments = _arguments(example)
    training = bool(getattr(module, "training", False))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        module.eval()
        try:
            _export(module, arguments, path, dynamic_shapes)
        finally:
            module.train(training)
        return use(path)
