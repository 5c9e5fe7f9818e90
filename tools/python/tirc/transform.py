"""tirc.transform: PassContext, and passes over modules one after the other. Which ones the library runs by itself, and in
which order, is its matter (`tirc explain passes`)."""

from ._transform import ModulePass, Sequential, module_pass


class PassContext:
    """with PassContext(opt_level=3): ... Code is optimised fully in any case; what a context asks for changes nothing."""

    def __init__(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None, config=None):
        if disabled_pass or required_pass or instruments or config:
            raise ValueError("a PassContext of tirc takes opt_level only: passes are not chosen by it")
        self.opt_level = opt_level

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


__all__ = ["ModulePass", "PassContext", "Sequential", "module_pass"]
