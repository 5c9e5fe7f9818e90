"""tirc.ir.transform: passes over whole modules, as functions and as classes."""

import contextvars
import functools
import inspect

from ._module import IRModule


# Options of passes change how hard a pass tries, or the form of what it makes, and never what the program computes. Those of a
# pass that has none by the name try what they can in any case.
_EFFORT = ("tir.Simplify", "tir.RemoveNoOp", "tir.LoopPartition", "tir.ReduceBranchingThroughOvercompute", "tir.UnrollLoop")
_PRAGMAS = {"auto_max_step": 0, "explicit_unroll": True}  # of tir.UnrollLoop: annotations of loops say it


def options_of(name, known):
    """What the contexts around ask of a pass, as NAME+OPTION=NUMBER has it: of {"tir.NAME": {option: value}} and, where the pass
    has an option of that name, of {"tir.OPTION": value}."""
    asked = {}
    for context in PassContext._inside.get():
        given = context.config.get("tir." + name)
        asked.update(given if isinstance(given, dict) else {})
        asked.update((option, context.config["tir." + option]) for option in known if "tir." + option in context.config)
    return ["%s=%d" % (key, value) for key, value in asked.items() if key in known and isinstance(value, (bool, int))]


def _single():
    """Options that stand for themselves: "tir.lwp_max_depth"."""
    from .tir import transform
    return {"tir." + option for name in transform.passes() for option in transform.options(name)}


class PassContext:
    """with PassContext(opt_level=3): ... Code is optimised fully in any case; what a context asks for changes nothing,
    and what would have to change something is refused. Passes get the context beside the module."""

    _inside = contextvars.ContextVar("tirc.PassContext", default=())

    def __init__(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None, config=None):
        for what, given in (("required_pass", required_pass), ("disabled_pass", disabled_pass), ("instruments", instruments)):
            if given:
                raise ValueError("a PassContext of tirc takes opt_level only, and no %s: Sequential lists the passes to run" % what)
        self.opt_level, self.config = opt_level, dict(config or {})
        for key in self.config:
            if key not in _EFFORT and key not in _single():
                raise ValueError("a PassContext of tirc has no option '%s': it would be ignored. Options are %s, which only say "
                                 "how hard a pass tries" % (key, ", ".join(_EFFORT)))

        unroll = self.config.get("tir.UnrollLoop")
        for option, usual in _PRAGMAS.items() if isinstance(unroll, dict) else ():
            if unroll.get(option, usual) != usual:
                raise ValueError("the option %s of tir.UnrollLoop is %r: annotate loops with pragma_auto_unroll_max_step and "
                                 "pragma_unroll_explicit" % (option, usual))

    def __enter__(self):
        PassContext._inside.set(PassContext._inside.get() + (self,))
        return self

    def __exit__(self, *_):
        PassContext._inside.set(PassContext._inside.get()[:-1])
        return False

    @staticmethod
    def current():
        """The innermost one that is open, or one of the defaults."""
        inside = PassContext._inside.get()
        return inside[-1] if inside else PassContext()


class PassInfo:
    def __init__(self, opt_level, name, required):
        self.opt_level, self.name, self.required = opt_level, name, list(required)


class Pass:
    """A function from a module to a module."""


class ModulePass(Pass):
    """A function from a module to a module: `mod = the_pass(mod)`."""

    def __init__(self, transform, info):
        self._transform, self.info = transform, info

    def __call__(self, mod):
        if not isinstance(mod, IRModule):
            raise TypeError("the pass %s takes an IRModule, not %s" % (self.info.name, type(mod).__name__))
        made = self._transform(mod, PassContext.current())
        if not isinstance(made, IRModule):
            raise TypeError("the pass %s gives %s, and no module" % (self.info.name, type(made).__name__))
        if made._params is None and mod._params is not None:
            made = IRModule._of(made._module, mod._params)  # the graph's weights stay with it
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


class Sequential(Pass):
    """Passes one after the other."""

    def __init__(self, passes, opt_level=0, name="sequential", required=None):
        self.passes, self.info = list(passes), PassInfo(opt_level, name, required or ())

    def __call__(self, mod):
        for one in self.passes:
            mod = one(mod)
        return mod

    def __repr__(self):
        return "<Sequential of %d passes>" % len(self.passes)
