"""What the reference's lowering passes make of programs, against ours: each pair `before` and `after` of a .jsonl file.

A pair is `equal` (the same tree), `numbers` (another tree that computes the same), `refused` (both refuse the program);
or it differs, for a reason. `still` computes the same because the pass left the program as it was: it is listed apart.

Usage: transform.py FILE.jsonl [--expect FILE] [--keep FOLDER] [--show WORD] [--only WORD] [--list]"""

import ast
import re
import sys

import numpy as np
import tirc
from tirc.script import tir as T
from tirc.tir import transform

import pairs
from pairs import Reason, short

STEPS = 30_000_000
ZEROS = 3  # the seed of arrays of zeros


def widened(x):
    return T.reinterpret("float32", T.shift_left(T.Cast("uint32", T.reinterpret("uint16", x)), T.uint32(16)))


def rounded(x):
    bits = T.reinterpret("uint32", x)
    bias = T.bitwise_and(T.shift_right(bits, T.uint32(16)), T.uint32(1)) + T.uint32(0x7FFF)
    return T.Cast("uint16", T.shift_right(bits + bias, T.uint32(16)))


# Functions of the tests' Python that programs call: their meaning is in other programs of the tests, or does not matter.
HELPERS = {
    "intrin_test": lambda *args: T.call_extern("int32", "intrin_test", *args),
    "_device_context": lambda kind, number: T.call_extern("handle", "device_context", kind, number),
    "buffer_func": T.decl_buffer,
    "bf16tof32": widened,
    "f32tobf16": lambda x: T.reinterpret("bfloat16", rounded(x)),
    "u16tof32": lambda x: T.reinterpret("float32", T.shift_left(T.Cast("uint32", x), T.uint32(16))),
    "f32tou16": rounded,
}


def read(side, what):
    # whatever it is, it is vectorized
    text = side["text"].replace(" op(T.bool", " T.And(T.bool").replace(" op(T.Broadcast(T.bool", " T.And(T.Broadcast(T.bool").replace(" op(", " T.max(")
    try:
        if not any(name + "(" in text for name in HELPERS):
            return tirc.parse(text)
        made = tirc.script.from_source(text, HELPERS)
        return made if isinstance(made, tirc.IRModule) else made.module
    except tirc.TVMError as e:
        raise Reason("%s is not read: %s" % (what, short(e))) from None


def arguments(words):
    args, kwargs = [], {}
    for word in words:
        key, equals, value = word.partition("=")
        try:
            value = ast.literal_eval(value if equals else word)
        except (SyntaxError, ValueError):
            value = None  # what the text does not say, such as a target
        if equals:
            kwargs[key] = value
        else:
            args.append(value)
    return args, kwargs


def config(passes):
    """What the test's PassContext asks for; an option whose value the text does not say is left out."""
    given = {}
    for name, *words in passes:
        if name == "#config":
            text = re.sub(r"<any [^>]*>", "None", words[0])
            for key, value in (ast.literal_eval(text) or {}).items():
                given[key] = value if not isinstance(value, dict) else {k: v for k, v in value.items() if v is not None}
    try:
        return tirc.transform.PassContext(config=given)
    except ValueError:
        return tirc.transform.PassContext()


def target_of(pair):
    """The target that a test binds, which the pair has in the other program only; None: nowhere."""
    found = re.findall(r'T\.target\("([^"]*)"(?:, host="([^"]*)")?\)', pair.get("after", pair["before"])["text"])
    return tirc.target.Target(*(x or None for x in max(found, key=lambda f: bool(f[1])))) if found else None


def through(mod, passes, target=None):
    with config(passes):
        return through_all(mod, passes, target)


def through_all(mod, passes, target):
    for name, *words in passes:
        if name == "#config":
            continue
        try:
            one = getattr(transform, name)
        except AttributeError:
            raise Reason("no pass %s" % name) from None
        args, kwargs = arguments(words)
        if name == "BindTarget":
            if target is None:
                continue
            args = [target]
        try:
            one = one(*args, **kwargs)
        except (TypeError, ValueError) as e:
            raise Reason("not that form of %s: %s" % (name, short(e))) from None
        if words and words[0].startswith("<function"):
            raise Reason("the pair does not have the function that %s takes" % name)
        mod = one(mod)
    return mod


def plain(mod):
    """The program with the empty statement in our spelling."""
    text = mod.script()
    if "T.evaluate(0)" not in text and " pass\n" not in text:
        return mod
    try:
        return tirc.parse(text.replace("T.evaluate(0)", "pass"))
    except tirc.TVMError:
        return mod


def same(a, b):
    a, b = plain(a), plain(b)
    if list(a.functions) != list(b.functions) and len(a.functions) == len(b.functions) == 1:
        (a,), (b,) = a.functions.values(), b.functions.values()
    return tirc.difference(a, b)


DTYPES = {"bool": "bool", "bfloat16": "uint16"}


def array(p, sizes, rng):
    shape = [sizes.setdefault(d, 8) if isinstance(d, str) else d for d in p.shape]
    if any(d < 0 for d in shape):
        raise Reason("numbers: the extent of a parameter is an expression")
    if np.prod(shape, dtype="float64") > 1 << 22:
        raise Reason("numbers: a parameter is too large")
    dtype = DTYPES.get(p.dtype, p.dtype)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    try:
        kind = np.dtype(dtype).kind
    except TypeError:
        raise Reason("numbers: numpy has no %s" % p.dtype) from None
    if kind == "f":
        return rng.uniform(-1, 1, shape).astype(dtype)
    return rng.integers(0, 8, shape).astype(dtype)


def inputs(f, seed):
    rng, sizes, out = np.random.default_rng(seed), {}, []
    for p in f.params:
        if p.shape is None:
            sizes[p.name] = int(rng.integers(1, 8))
    for p in f.params:
        out.append(sizes[p.name] if p.shape is None else array(p, sizes, rng))
    return [np.zeros_like(a) if seed == ZEROS and p.shape is not None else a for a, p in zip(out, f.params)]


def results(mod, name, seed, how):
    """The arrays that it is given, and whether it writes any; None and why, where it does not run."""
    f = mod.functions[name]
    args = inputs(f, seed)
    try:
        how(mod, *args, func=name, max_steps=STEPS)
    except tirc.TVMError as e:
        return None, short(e)
    return [a for a, p in zip(args, f.params) if p.shape is not None], any(p.is_written for p in f.params)


def runner_for(mod, name):
    """A program with threads runs as a GPU runs it, where the emulator takes it: in its order, with its barriers. Else why not, too."""
    if "threadIdx" not in mod.script() and "blockIdx" not in mod.script():
        return tirc.interpret, None
    ran, why = results(mod, name, 0, tirc.emulate)
    return (tirc.interpret, why) if ran is None else (tirc.emulate, None)


def main_of(mod):
    names = list(mod.functions)
    return "main" if "main" in names else names[0] if len(names) == 1 else None


def same_numbers(a, b):
    """None, or what differs."""
    first, second = main_of(a), main_of(b)
    if not first or not second:
        raise Reason("numbers: there is no main")
    compared, (how, why) = 0, runner_for(b, second)
    assumes = "T.assume(" in a.script()  # which random arrays do not meet
    for seed in range(ZEROS if assumes else 0, ZEROS + 1):
        (x, writes_x), (y, writes_y) = results(a, first, seed, how), results(b, second, seed, how)
        if y is None:
            why = why or writes_y
            if "steps is reached" in writes_y:
                break  # with other numbers, too
            continue
        if x is None:
            return "ours does not run: " + writes_x
        if not writes_x and not writes_y:
            raise Reason("numbers: nothing is written")
        if len(x) != len(y) or any(p.shape != q.shape for p, q in zip(x, y)):
            return "other parameters"
        for p, q in zip(x, y):
            if not np.allclose(p, q, rtol=1e-4, atol=1e-5, equal_nan=True):
                return "other numbers"
        compared += 1
    if not compared:
        raise Reason("numbers: the reference's is not run: %s" % why)
    return None


# Tests of programs that reading refuses for the very reason for which the reference's pass does, and what it says.
REFUSED_AS_READ = [("TestErrorIfPredicateUsesBlockVariables", "variable vi is used where it is not defined")]


def judged(pair):
    names = [name for name, *_ in pair["passes"] if name != "#config"]
    try:
        before = read(pair["before"], "before")
    except Reason as e:
        if "raises" in pair and any(test in pair["test"] and why in str(e) for test, why in REFUSED_AS_READ):
            return "refused"
        raise
    if not names:
        raise Reason("no pass is named")
    if "raises" in pair:
        try:
            through(before, pair["passes"], target_of(pair))
        except tirc.TVMError:
            return "refused"
        return "taken, and the reference refuses it"
    after = read(pair["after"], "after")
    try:
        ours = through(before, pair["passes"], target_of(pair))
    except tirc.TVMError as e:
        raise Reason("refused: %s" % short(e)) from None
    try:
        theirs = through(after, pair["after_passes"], target_of(pair))
    except tirc.TVMError as e:
        raise Reason("after is refused: %s" % short(e)) from None
    words = same(ours, theirs)
    if words is None:
        return "equal"
    try:
        numbers = same_numbers(ours, theirs)
    except Reason as e:
        raise Reason("differs; %s" % e) from None
    if numbers:
        return "differs: %s" % numbers
    return "still" if same(ours, before) is None else "numbers"


def show(pair):
    print(pair["before"]["text"])
    try:
        before = read(pair["before"], "before")
        ours = through(before, pair["passes"], target_of(pair))
        print("--- ours\n" + ours.script())
        print("--- theirs\n" + through(read(pair["after"], "after"), pair["after_passes"]).script())
        print("--- " + str(same(ours, through(read(pair["after"], "after"), pair["after_passes"]))))
    except (Reason, tirc.TVMError) as e:
        print("---", e, "\n--- after:\n" + (pair.get("after") or {"text": "raises"})["text"])


SCALABLE = "the pair is about scalable vectors: it does not have the test's `extent` or target, or counts lanes by `vscale`"
TREE = "another tree, and the reference's program cannot be run: "

REASONS = [  # what a verdict begins with, or has in it, and what is to be said of it
    ("still", "the same numbers, because our pass leaves the program as it is"),
    ("'priors' is not defined", "the pair does not have the values of the test's parameters (`priors`, `postulate`)"),
    ("'extent' is not defined", SCALABLE),
    ("'sve_target' is not defined", SCALABLE),
    ("xvscale", SCALABLE),
    ("the number of lanes must be a constant", SCALABLE),
    ("'iter_var' is not defined", "the pair does not have the test's thread variable, which two functions share"),
    ("'threadIdx_x' is not defined", "the pair does not have the test's thread variable, which two functions share"),
    ("'func_attr' is not defined", "the pair does not have the test's `func_attr`"),
    ("variable n is used where it is not defined", "an extent that no parameter tells is refused as it is read: `n * 32` elements, `T.Var` in the text"),
    ("float8", "there are no 8-bit floats"),
    ("T.realize", "`T.realize` of the older tensor expressions is not read"),
    ("T.Shuffle", "`T.Shuffle` is not read"),
    ("'buffer' is not a data type", "`T.buffer` as the type of a parameter is not read"),
    ("a stride must be an integer", "a stride that is a handle is refused as it is read"),
    ("ndim has type int32", "`T.tvm_struct_get` of a `DLTensor` that is a parameter has no type"),
    ("because it uses the address of", "the regions of a block that uses an address are not inferred"),
    ("scope warp", TREE + "it is lowered no further, and has buffers of the scope `warp`"),
    ("no pass ", None),
    ("not that form", None),
    ("does not have the function", None),
    ("subroutine", "a function that calls itself, or is for another target than its caller, is not read in the place of the call"),
    ("a function returns at its end", "functions that return from within a block are not read"),
    ("taken", "the reference refuses it, and ours does not"),
    ("nothing is written", "another tree, in which no array is written whose numbers could be compared"),
    ("a parameter is too large", "another tree, too large to be run"),
    ("of a parameter is an expression", "another tree, not run: the extent of a parameter is an expression"),
    ('buffer "red_buf0" is read', TREE + "it shuffles what threads never wrote, which the emulator does not take"),
    ("is read where it was never written", TREE + "it reads what was never written"),
    ("outside of", TREE + "it leaves its buffers"),
    ("steps is reached", TREE + "it takes too long"),
    ("cannot call the external function", TREE + "it calls a function that there is not"),
    ("passes on the pointer", TREE + "it copies by pointers, which elements is not known"),
    ("single kernel", TREE + "one block's shared memory is used by several kernels"),
    ("of which each thread has its own", TREE + "the threads' own memory is used by several kernels"),
    ("T.address_of", TREE + "it takes an address, which the interpreter does not"),
    ("no buffers of int32x4", TREE + "it has buffers of vectors, which the interpreter has not"),
    ("the LLVM intrinsic", TREE + "it calls an LLVM intrinsic that cannot be called"),
    ("is not read", "not read, for other reasons"),
    ("is not run", TREE + "for other reasons"),
    ("refused", "our pass refuses it"),
    ("differs", "other numbers: the reference's program does not compute what `before` does, or ours fails"),
]


def last_pass(pair):
    """passes"""
    names = [name for name, *_ in pair["passes"] if name != "#config"]
    return names[-1] if names else "none"


def first_lines(n, count):
    return ("# The reference's lowering passes, and ours",
            "Of %d pairs of programs before and after passes of the reference, %d are structurally equal after ours, %d compute the same, "
            "changed in another way, and %d are refused by both. The others, by reason; `tests/transform/transform.py` writes this page." % (
                n, count["equal"], count["numbers"], count["refused"]))


if __name__ == "__main__":
    sys.exit(pairs.main(pairs.Suite(("equal", "numbers", "refused"), judged, show, REASONS, first_lines, 100_000, 700_000, last_pass)))
