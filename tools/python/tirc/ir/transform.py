"""tirc.ir.transform: passes over modules."""

from .._transform import ModulePass, PassContext, PassInfo, Sequential, module_pass

__all__ = ["ModulePass", "PassContext", "PassInfo", "Sequential", "module_pass"]
