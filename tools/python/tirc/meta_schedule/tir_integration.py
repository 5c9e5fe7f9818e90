"""tirc.meta_schedule.tir_integration: tuning programs."""

from .._errors import TVMError
from .._module import IRModule
from .._tune import tune
from .database import Database, _threads


def _alone(mod):
    """The functions of a module, each as a module with a main."""
    from .._module import as_module
    functions = mod.functions if isinstance(mod, IRModule) else {"main": mod}
    return {name: as_module(f, "main") for name, f in functions.items()}


def tune_tir(mod, target, work_dir="./tune", max_trials_global=64, *, max_trials_per_task=None, num_trials_per_iter=64, builder=None,
             runner=None, database=None, cost_model=None, measure_callbacks=None, task_scheduler="gradient", space=None, strategy=None,
             num_tuning_cores=None, seed=None, module_equality="structural", special_space=None, post_optimization=False):
    """Searches for schedules of the functions of a module, and gives the database. max_trials_global: of all functions
    together. What chooses candidates is the library's: builder, runner, cost_model, space and the like are not taken."""
    given = dict(builder=builder, runner=runner, cost_model=cost_model, measure_callbacks=measure_callbacks, space=space,
                 strategy=strategy, special_space=special_space)
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise TVMError("tune_tir of tirc takes no %s" % name, code="argument", hint="tirc.tune(mod, rules=FILE.sch) takes a space that a script is")
    if not isinstance(database, Database):
        database = Database(work_dir=work_dir)
    parts = _alone(mod)
    share = max_trials_per_task or max(1, max_trials_global // max(len(parts), 1))
    for part in parts.values():
        tune(part, target, threads=_threads(target), trials=share, seed=seed or 0, database=database.path)
    return database


def compile_tir(database, mod, target, workload_name="main"):
    """A schedule with the best trace that the database has; None: it has none."""
    return database.query_schedule(mod, target, workload_name)


__all__ = ["compile_tir", "tune_tir"]
