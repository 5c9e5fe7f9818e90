"""tirc.dlight.gpu: the rules for GPUs."""

from .base import LibraryRule

_RULES = {"Matmul": "matmul", "LowBatchGEMV": "low_batch_gemv", "GEMV": "gemv", "Reduction": "reduction",
          "GeneralReduction": "general_reduction", "RMSNorm": "rms_norm", "Transpose": "transpose", "Fallback": "fallback"}


def _rule(name, rule):
    return type(name, (LibraryRule,), {"file": "gpu", "rule": rule, "__doc__": "The rule %s of `tirc rules gpu`." % rule, "__module__": __name__})


for _name, _of in _RULES.items():
    globals()[_name] = _rule(_name, _of)

__all__ = list(_RULES)


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.dlight.gpu", name)
