"""tirc.meta_schedule.space_generator: a space of schedules that a function of Python says."""

import inspect
import textwrap

from .._expand import is_plain, literal


class ScheduleFn:
    """A function of a schedule that draws decisions: sch.sample_perfect_tile ... Its text is a script of the search's, so it uses what
    scripts have; Python's numbers and texts around it are known to it. Candidates of the library's own rules are tried beside."""

    def __init__(self, sch_fn):
        if not inspect.isfunction(sch_fn) or sch_fn.__name__ == "<lambda>":
            raise TypeError("a space is a function of a schedule, with a name, and not %r" % (sch_fn,))
        self.sch_fn = sch_fn

    def script(self):
        """The library of rules that it is."""
        source = textwrap.dedent(inspect.getsource(self.sch_fn))
        around = inspect.getclosurevars(self.sch_fn)
        known = {k: v for k, v in {**around.globals, **around.nonlocals}.items() if is_plain(v)}
        lines = ["%s = %s" % (k, literal(v)) for k, v in known.items()]
        name = self.sch_fn.__name__
        return "\n".join([*lines, source, "def as_rule(sch, func):", "    %s(sch)" % name, "    return True", "", "rules = [as_rule]", ""])


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.meta_schedule.space_generator", name)


__all__ = ["ScheduleFn"]
