"""A call of an operator over extents that have names, run twice: with the numbers given ahead (-D n=3), and told by the
arrays when it runs. Both compute the same, or both refuse it with the same words."""

import os
import pathlib
import re
import subprocess

import numpy as np

TIRC = os.environ.get("TIRC", "tirc")
SKIPPED = {"Select", "max", "min", "int", "Tensor"}  # words of extents that are not numbers, not of reasons


def dims_of(shape):
    """"n,3" """
    return [int(e) if re.fullmatch(r"\d+", e) else e for e in shape.split(",") if e]


def module(call, tensors):
    """tensors: {"x": "n,3:float32"}"""
    params, names = [], []
    for name, text in tensors.items():
        shape, dtype = text.split(":")
        dims = ["%d" % e if isinstance(e, int) else '"%s"' % e for e in dims_of(shape)]
        names += [e for e in dims_of(shape) if isinstance(e, str) and e not in names]
        params.append('%s: R.Tensor((%s), "%s")' % (name, "".join(d + ", " for d in dims), dtype))
    return """@I.ir_module
class Module:
    @R.function
    def main(%s):
%s        with R.dataflow():
            out = R.%s
            R.output(out)
        return out
""" % (", ".join(params), "".join("        %s = T.int64()\n" % n for n in names if re.search(r"\b%s\b" % n, call)), call)


def arrays(tensors, sizes, seed):
    draw = np.random.default_rng(seed)
    made = {}
    for name, text in tensors.items():
        shape, dtype = text.split(":")
        shape = [sizes.get(e, e) for e in dims_of(shape)]
        values = draw.uniform(-2, 2, shape) if "float" in dtype else draw.integers(0, 2, shape)
        made[name] = values.astype(dtype)
    return made


def words(message):
    """What is said, without numbers and what stands for them; the place in the script."""
    said = message.split("error: ", 1)[-1].split("\n")[0]
    place = re.search(r"\(([^()]*\.sch:\d+)\)", said)
    reason = said[:place.start()] if place else said
    return [w for w in re.findall(r"[A-Za-z_]{2,}", reason) if w not in SKIPPED], place and place.group(1)


def tell(path, options, given, results):
    command = [TIRC, "run", str(path), *options, "--out", str(results)]
    for name in given:
        command += ["--in", "%s=%s" % (name, path.parent / (name + ".npy"))]
    results.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        return 0, dict(np.load(results))
    return done.returncode, done.stderr


def outcomes(folder, call, tensors, sizes, seed=1):
    """[(how, status, results or the message)]"""
    folder = pathlib.Path(folder)
    path = folder / "extents.tir"
    path.write_text(module(call, tensors))
    given = arrays(tensors, sizes, seed)
    for name, value in given.items():
        np.save(folder / (name + ".npy"), value)
    ahead = [o for name, value in sizes.items() for o in ("-D", "%s=%d" % (name, value))]
    said = [(how, *tell(path, options, given, folder / "results.npz"))
            for how, options in (("-D", [*ahead, "--plain"]), ("run", ["--plain"]))]
    if said[-1][1]:
        said.append(("run --check", *tell(path, ["--check", "--plain"], given, folder / "results.npz")))
    return said


def difference(folder, call, tensors, sizes, legal=None, seed=1):
    """None, or what differs. legal: what is expected of it, or None."""
    said = outcomes(folder, call, tensors, sizes, seed)
    (_, status, known), rest = said[0], said[1:]
    if legal is not None and (status == 0) != legal:
        return "-D: status %d: %s" % (status, known)
    for how, also, found in rest:
        if also != status or status not in (0, 2):
            return "-D: status %d, %s: status %d: %s" % (status, how, also, found if also else known)
        if status and words(found) != words(known):
            return "other words: -D: %s%s: %s" % (known, how, found)
        for a, b in zip(known.values(), found.values()) if not status else ():
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
                return "%s gives %s, and -D %s" % (how, b, a)
    return None
