"""tirc.ir.transform: passes over modules."""

from .._transform import ModulePass, Pass, PassContext, PassInfo, Sequential, module_pass

__all__ = ["ModulePass", "Pass", "PassContext", "PassInfo", "Sequential", "module_pass"]
