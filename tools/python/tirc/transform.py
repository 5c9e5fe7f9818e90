"""tirc.transform: PassContext. Which passes run, and in which order, is the library's matter (`tirc explain`)."""


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


__all__ = ["PassContext"]
