"""tirc.meta_schedule.tir_integration: tuning programs."""

import os
import tempfile

from .._errors import TVMError
from .._module import IRModule
from .._runtime import gpu_of
from .._tune import tune_all
from .database import Database, JSONDatabase, _threads
from .space_generator import ScheduleFn


def _alone(mod):
    """The functions of a module, each as a module with a main."""
    from .._module import as_module
    functions = mod.functions if isinstance(mod, IRModule) else {"main": mod}
    return {name: as_module(f, "main") for name, f in functions.items()}


def tune_tir(mod, target, work_dir="./tune", max_trials_global=64, *, max_trials_per_task=None, num_trials_per_iter=64, builder=None,
             runner=None, database=None, cost_model=None, measure_callbacks=None, task_scheduler="gradient", space=None, strategy=None,
             num_tuning_cores=None, seed=None, module_equality="structural", special_space=None, post_optimization=False):
    """Searches for schedules of the functions of a module, and gives the database. max_trials_global: of all functions
    together; they go in rounds of num_trials_per_iter for each function: to those that are expected to gain most, or, with
    task_scheduler="round-robin", as many to each. space: a space_generator.ScheduleFn; strategy: "evolutionary", or "replay-trace", which
    draws each candidate anew. Builder, runner and cost_model are the library's, and not taken."""
    given = dict(builder=builder, runner=runner, cost_model=cost_model, measure_callbacks=measure_callbacks,
                 special_space=special_space, num_tuning_cores=num_tuning_cores)
    for name, value in given.items():
        if value is not None:
            raise TVMError("tune_tir of tirc takes no %s" % name, code="argument", hint="tirc.tune(mod, rules=FILE.sch) takes a space that a script is")
    if space not in (None, "post-order-apply") and not isinstance(space, ScheduleFn) or strategy not in (None, "evolutionary", "replay-trace"):
        raise TVMError("a space is a space_generator.ScheduleFn, and a strategy \"evolutionary\" or \"replay-trace\"", code="argument",
                       hint="tirc.tune(mod, rules=FILE.sch) takes a space that a script is")
    if post_optimization or module_equality != "structural" or task_scheduler not in ("gradient", "round-robin"):
        raise TVMError("tune_tir of tirc has no post_optimization, compares programs by their structure, and its task_scheduler is "
                       "gradient or round-robin", code="argument")
    if not isinstance(database, Database):
        database = JSONDatabase(work_dir=work_dir)
    parts = list(_alone(mod).values())
    each = min(max_trials_per_task or max_trials_global, max(1, max_trials_global // max(len(parts), 1)))
    done, seed, gpu = 0, seed or 0, gpu_of(target)
    device = None if gpu is None else "opencl" if gpu.startswith(b"opencl") else "cuda"
    ranking = "random" if strategy == "replay-trace" else None
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "space.sch") if isinstance(space, ScheduleFn) else None
        if rules:
            with open(rules, "w") as f:
                f.write(space.script())
        while done < each and parts:
            trials = min(num_trials_per_iter, each - done)
            for group in [parts] if task_scheduler == "gradient" else [[part] for part in parts]:
                tune_all(group, target, threads=_threads(target), trials=trials, seed=seed, rules=rules, device=device, ranking=ranking,
                         database=database.path or False, told=lambda trial, group=group: database.heard(group[trial.task], trial, target))
            done, seed = done + trials, seed + 1
    return database


def compile_tir(database, mod, target, workload_name="main"):
    """A schedule with the best trace in the database, or None."""
    return database.query_schedule(mod, target, workload_name)


__all__ = ["compile_tir", "tune_tir"]
