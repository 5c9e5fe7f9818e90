"""tirc.dlight.base: rules, and the pass that tries them."""

import os
import tempfile
import warnings

from .._module import IRModule
from .._runtime import gpu_of
from .._schedule import Schedule, auto
from .._target import Target
from .._transform import ModulePass, PassInfo
from .._warnings import ScheduleWarning


class ScheduleRule:
    """Schedules functions of one kind: apply(func, target, tunable) returns a schedule, or None."""

    def apply(self, func, target, tunable):
        raise NotImplementedError("%s has no apply(func, target, tunable)" % type(self).__name__)


class LibraryRule(ScheduleRule):
    """One of the library's, by its name in its file."""

    file = rule = None

    def _scheduled(self, mod, target):
        """The module with the rule's schedule; None: the rule does not take it."""
        if gpu_of(target) is None:
            raise ValueError("the rule %s is for GPUs, and not for %s: tirc.auto(mod, target) has those for processors" % (self.rule, target))
        text = "from %s import %s\n\ndef leave_it(sch, func):\n    return True\n\nrules = [%s, leave_it]\n" % (self.file, self.rule, self.rule)
        took = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rules.sch")
            with open(path, "w") as f:
                f.write(text)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ScheduleWarning)  # leave_it is no rule that schedules
                made = auto(mod, target, rules=path, explain=lambda func, rule, did, why: took.append(rule) if did else None)
        return made if self.rule in took else None

    def apply(self, func, target, tunable=False):
        if tunable:
            raise ValueError("rules give one schedule, and no space: tirc.tune(mod, target) searches")
        mod = IRModule({"main": func})
        made = self._scheduled(mod, target)
        if made is None:
            return None
        sch = Schedule(mod)
        sch.run_script(made.trace_script() + "\napply_trace(sch)\n")
        return sch

    def __repr__(self):
        return "<the rule %s of `tirc rules %s`>" % (self.rule, self.file)


def _by_rules(func, rules, target):
    """The function by the first rule that takes it; as it is, where none does."""
    mod = IRModule({"main": func})
    for rule in rules:
        made = rule._scheduled(mod, target) if isinstance(rule, LibraryRule) else rule.apply(func, target, False)
        if isinstance(made, (list, tuple)):
            made = made[0] if made else None
        if made is not None:
            return made["main"] if isinstance(made, IRModule) else made.mod["main"]
    return func


def ApplyDefaultSchedule(*rules):
    """A pass: each function gets the schedule of the first rule that takes it, for the target of `with Target(...)`."""
    for rule in rules:
        if not isinstance(rule, ScheduleRule):
            raise TypeError("ApplyDefaultSchedule takes rules, such as dlight.gpu.Matmul(), not %r" % (rule,))

    def run(mod, _):
        target, made = Target.current(allow_none=False), mod.clone()
        for name, f in mod.functions.items():
            by_rules = _by_rules(f, rules, target)
            if by_rules is not f:
                made.update_func(name, by_rules)
        return made

    return ModulePass(run, PassInfo(0, "ApplyDefaultSchedule", ()))


__all__ = ["ApplyDefaultSchedule", "ScheduleRule"]
