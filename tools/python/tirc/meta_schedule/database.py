"""tirc.meta_schedule.database: what a search has measured."""

import base64
import json
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

    def heard(self, mod, trial, target):
        """What a search tells of a trial: the file has it already."""


class Workload:
    """A program that is tuned. as_json: its hash and its text."""

    def __init__(self, mod):
        from .._module import as_module, structural_hash
        self.mod = as_module(mod, "main")
        self.shash = structural_hash(self.mod)

    def as_json(self):
        from ..ir import save_json
        return [str(self.shash), base64.b64encode(save_json(self.mod).encode()).decode()]

    @staticmethod
    def from_json(json_obj):
        from ..ir import load_json
        try:
            return Workload(load_json(base64.b64decode(json_obj[1]).decode()))
        except (ValueError, TypeError, IndexError, KeyError):
            raise ValueError("this is no workload that tirc wrote; TVM's programs are read as text: `tirc db import RECORDS PROG`") from None


class TuningRecord:
    """What a trace took: run_secs, None or empty where it failed. as_json is a line of the reference's file, without the workload's number."""

    def __init__(self, trace, workload, run_secs=None, target=None, args_info=None):
        from ..target import Target
        self.trace, self.workload, self.run_secs = trace, workload, None if run_secs is None else [float(s) for s in run_secs]
        self.target = target if target is None or isinstance(target, Target) else Target(target)
        self.args_info = _arguments(workload.mod) if args_info is None else args_info

    def mean(self):
        """Seconds; infinite where it failed."""
        return sum(self.run_secs) / len(self.run_secs) if self.run_secs else float("inf")

    def as_json(self):
        trace = self.trace if isinstance(self.trace, (list, tuple)) else self.trace.as_json()
        return [trace, self.run_secs, self.target and self.target.export(), self.args_info]

    @staticmethod
    def from_json(json_obj, workload):
        trace, run_secs, target, args_info = json_obj
        return TuningRecord(trace, workload, run_secs, target, args_info)

    def schedule(self):
        """A schedule of the workload with the trace applied."""
        from .._schedule import Schedule, Trace
        sch = Schedule(self.workload.mod)
        Trace.apply_json_to_schedule(self.as_json()[0], sch)
        return sch


def _is_for(record, target):
    from ..target import Target
    asked = target if target is None or isinstance(target, Target) else Target(target)
    return asked is None or record.target is not None and record.target.export() == asked.export()


def _arguments(mod):
    """As the reference has them: [["TENSOR", "float32", [4, 4]], ...]."""
    name, f = next(iter(mod.functions.items()))
    return [["TENSOR", p.dtype, list(p.shape)] if p.shape is not None else ["SCALAR", p.dtype] for p in mod.functions.get("main", f).params]


class MemoryDatabase(Database):
    """Workloads and records, as long as Python runs."""

    def __init__(self, module_equality="structural"):
        Database.__init__(self, module_equality=module_equality)
        self._workloads, self._records = [], []

    def has_workload(self, mod):
        return self._known(mod) is not None

    def _known(self, mod):
        asked = Workload(mod)
        return next((w for w in self._workloads if w.shash == asked.shash), None)

    def commit_workload(self, mod):
        """The workload of a program, which is kept if it is new."""
        known = self._known(mod)
        if known is None:
            known = Workload(mod)
            self._workloads.append(known)
            self._wrote_workload(known)
        return known

    def commit_tuning_record(self, record):
        record.workload = self.commit_workload(record.workload.mod)
        self._records.append(record)
        self._wrote_record(record)

    def _wrote_workload(self, workload):
        """For those that have a file."""

    def _wrote_record(self, record):
        """For those that have a file."""

    def get_all_tuning_records(self):
        return list(self._records)

    def __len__(self):
        return len(self._records)

    def get_top_k(self, workload, top_k):
        """The best records of a workload that ran, the best first."""
        good = [r for r in self._records if r.workload.shash == workload.shash and r.run_secs]
        return sorted(good, key=TuningRecord.mean)[:top_k]

    def query_tuning_record(self, mod, target, workload_name="main"):
        """The best record of a program for this target; None as a target: for any."""
        del workload_name
        return next((r for r in self.get_top_k(Workload(mod), None) if _is_for(r, target)), None)

    def query_schedule(self, mod, target, workload_name="main"):
        record = self.query_tuning_record(mod, target)
        return record.schedule() if record else Database.query_schedule(self, mod, target) if self.path else None

    def query_ir_module(self, mod, target, workload_name="main"):
        sch = self.query_schedule(mod, target)
        return sch and sch.mod

    def heard(self, mod, trial, target):
        """A trial of a search becomes a record, with its trace."""
        if trial.trace:
            seconds = None if trial.code else [trial.seconds]
            self.commit_tuning_record(TuningRecord(json.loads(trial.trace), Workload(mod), seconds, target))


class JSONDatabase(MemoryDatabase):
    """Two files, as the reference has them: a workload a line, and a record a line, [number of the workload, [trace, seconds, target,
    arguments]]. Other programs write traces in the same form; workloads are read only if tirc wrote them."""

    def __init__(self, path_workload=None, path_tuning_record=None, *, work_dir=None, allow_missing=True, module_equality="structural"):
        MemoryDatabase.__init__(self, module_equality)
        if work_dir is not None:
            os.makedirs(work_dir, exist_ok=True)
            self.path = os.path.join(work_dir, "trials.jsonl")
        self.path_workload = path_workload or os.path.join(work_dir or ".", "database_workload.json")
        self.path_tuning_record = path_tuning_record or os.path.join(work_dir or ".", "database_tuning_record.json")
        self._read_workloads(allow_missing)
        for number, record in _lines(self.path_tuning_record, allow_missing):
            if not 0 <= number < len(self._workloads):
                raise ValueError("%s: there is no workload %r" % (self.path_tuning_record, number))
            self._records.append(TuningRecord.from_json(record, self._workloads[number]))

    def _read_workloads(self, allow_missing=True):
        """Those of the file that are not known yet: somebody else may have written them since."""
        lines = _lines(self.path_workload, allow_missing)
        if len(lines) < len(self._workloads):
            raise ValueError("%s has lost workloads since it was read" % self.path_workload)
        for line in lines[len(self._workloads):]:
            self._workloads.append(Workload.from_json(line))

    def commit_workload(self, mod):
        if not self.has_workload(mod):
            self._read_workloads()  # its number is that of its line
        return MemoryDatabase.commit_workload(self, mod)

    def _wrote_workload(self, workload):
        _append(self.path_workload, workload.as_json())

    def _wrote_record(self, record):
        _append(self.path_tuning_record, [self._workloads.index(record.workload), record.as_json()])


def _lines(path, allow_missing):
    if not os.path.exists(path):
        if allow_missing:
            return []
        raise ValueError("there is no file %s" % path)
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


def _append(path, row):
    with open(path, "a") as f:
        f.write(json.dumps(row) + "\n")


def _threads(target):
    """-num-cores=N of a target; 0: one a core."""
    import re
    found = re.search(r"-num-cores[= ](\d+)", str(target or ""))
    return int(found.group(1)) if found else 0
