"""tirc.meta_schedule.relax_integration: tuning the functions that a graph becomes.

    database = tune_relax(mod, params, "llvm -num-cores 2", work_dir="tune", max_trials_global=200)
    vm = relax.VirtualMachine(compile_relax(database, mod, "llvm -num-cores 2", params), tirc.cpu())
"""

import re

from .tir_integration import _alone, tune_tir


class ExtractedTask:
    """A function that a graph calls: mod has it as main, weight is how often it is called; dispatched: what is tuned of it."""

    def __init__(self, task_name, mod, target, weight):
        self.task_name, self.mod, self.target, self.dispatched, self.weight = task_name, mod, target, [mod], weight


def _functions(mod, target, params):
    """The module whose functions get schedules when the graph is compiled."""
    from ..relax import _weights, transform
    return transform.phases("cleanup", target)(_weights.weighed(mod, params)[0])


def extract_tasks(mod, target, params=None, *, module_equality="structural"):
    """The functions that the graph becomes, each with how often it is called."""
    if module_equality != "structural":
        raise ValueError("programs are compared by their structure, not by %r" % (module_equality,))
    made = _functions(mod, target, params)
    calls = re.findall(r"\bcls\.(\w+)", made.script(dialect="tir"))
    return [ExtractedTask(str(name), alone, target, calls.count(name)) for name, alone in _alone(made).items()]


def tune_relax(mod, params, target, work_dir="./tune", max_trials_global=64, **options):
    """Searches for schedules of the functions that the graph becomes, with the options of tune_tir; gives the database."""
    return tune_tir(_functions(mod, target, params), target, work_dir, max_trials_global, **options)


def compile_relax(database, mod, target, params=None, enable_warning=False):
    """What relax.build makes, with the best schedules of the database; the rules schedule what it does not have. enable_warning: says which."""
    from ..relax import Executable, _main_graph, _weights
    mod, params = _weights.weighed(mod, params)

    def schedule(function):
        found = database.query_ir_module(function, target)
        if found is None and enable_warning:
            import warnings
            from .._warnings import ScheduleWarning
            warnings.warn("the database has no schedule of this function, and the rules make one:\n%s" % function.script(), ScheduleWarning)
        return found
    out = Executable(mod, target, params, schedule=schedule)
    out.model(_main_graph(mod))
    return out


__all__ = ["ExtractedTask", "compile_relax", "extract_tasks", "tune_relax"]
