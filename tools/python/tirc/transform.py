"""tirc.transform: passes over modules, and what they run in; tirc.tir.transform has the lowering passes."""

from ._transform import ModulePass, Pass, PassContext, PassInfo, Sequential, module_pass

__all__ = ["ModulePass", "Pass", "PassContext", "PassInfo", "Sequential", "module_pass"]
