"""tirc.meta_schedule.database: what a search has measured."""

import os


class Database:
    """A database file of tirc, which `tirc db` shows, too. work_dir: its folder."""

    def __init__(self, path=None, work_dir=None, module_equality="structural"):
        if module_equality != "structural":
            raise ValueError("programs are compared by their structure, not by %r" % (module_equality,))
        if path is None and work_dir is not None:
            os.makedirs(work_dir, exist_ok=True)
            path = os.path.join(work_dir, "trials.jsonl")
        self.path = path

    def _found(self, mod, target):
        """The tuned program; None: there is none."""
        import warnings
        from .._tune import tuned
        from .._warnings import ScheduleWarning
        with warnings.catch_warnings():
            warnings.simplefilter("error", ScheduleWarning)  # that the rules stand in for it
            try:
                return tuned(mod, target, database=self.path, threads=_threads(target))
            except ScheduleWarning:
                return None

    def query_ir_module(self, mod, target, workload_name="main"):
        """The best program that is known; None: there is none."""
        del workload_name
        return self._found(mod, target)

    def query_schedule(self, mod, target, workload_name="main"):
        """A schedule with the best trace that is known, applied; None: there is none."""
        from .._schedule import Schedule
        del workload_name
        best = self._found(mod, target)
        if best is None:
            return None
        sch = Schedule(mod)
        sch.run_script(best.trace_script() + "\napply_trace(sch)\n")
        return sch


JSONDatabase = Database


def _threads(target):
    """-num-cores=N of a target; 0: one a core."""
    import re
    found = re.search(r"-num-cores[= ](\d+)", str(target or ""))
    return int(found.group(1)) if found else 0
