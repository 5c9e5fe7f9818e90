"""tirc.ir.transform: passes over whole modules, as functions and as classes."""

import functools
import inspect

from ._module import IRModule


class PassContext:
    """What a pass gets beside the module."""

    def __init__(self, opt_level=2, config=None):
        self.opt_level = opt_level
        self.config = dict(config or {})


class PassInfo:
    def __init__(self, opt_level, name, required):
        self.opt_level, self.name, self.required = opt_level, name, list(required)


class ModulePass:
    """A function from a module to a module: `mod = the_pass(mod)`."""

    def __init__(self, transform, info):
        self._transform, self.info = transform, info

    def __call__(self, mod):
        if not isinstance(mod, IRModule):
            raise TypeError("the pass %s takes an IRModule, not %s" % (self.info.name, type(mod).__name__))
        made = self._transform(mod, PassContext())
        if not isinstance(made, IRModule):
            raise TypeError("the pass %s gives %s, and no module" % (self.info.name, type(made).__name__))
        return made

    def __repr__(self):
        return "<ModulePass %s>" % self.info.name


def module_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    """A decorator: of a function (mod, ctx) -> mod, which becomes a pass; of a class with a method
    transform_module(self, mod, ctx), whose instances are passes."""
    del traceable
    if opt_level is None:
        raise ValueError("give opt_level for the pass")

    def make(what):
        info = PassInfo(opt_level, name or what.__name__, required or ())
        if not inspect.isclass(what):
            return ModulePass(what, info)
        if not callable(getattr(what, "transform_module", None)):
            raise TypeError("the class %s has no method transform_module" % what.__name__)

        @functools.wraps(what, updated=())
        class Pass(ModulePass):
            def __init__(self, *args, **kwargs):
                self._inner = what(*args, **kwargs)
                super().__init__(self._inner.transform_module, info)

            def __getattr__(self, key):
                return getattr(self._inner, key)

        return Pass

    return make(pass_func) if pass_func is not None else make


class Sequential:
    """Passes one after the other."""

    def __init__(self, passes, opt_level=0, name="sequential", required=None):
        self.passes, self.info = list(passes), PassInfo(opt_level, name, required or ())

    def __call__(self, mod):
        for one in self.passes:
            mod = one(mod)
        return mod
