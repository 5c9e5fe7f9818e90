"""Random graphs in the form of Relax, and what they compute as numpy computes it.

A value knows its text, its extents as texts ("n", "3"; None where the text would be more than a name), and how numpy makes it of
the values before. Each is evaluated at once: for each set of extents in its own types, and in float64 throughout. How far the two
are apart says how exact the arithmetic is, so steps of a staircase (floor, <, argmax, ...) are drawn where both are the same alone.
"""
import numpy as np

FLOATS, INTS = ("float32", "float32", "float32", "float64", "float16"), ("int32", "int64", "int8", "int16", "uint8")
EPS = {"float16": 1e-3, "float32": 1.2e-7, "float64": 2.3e-16}


class Impossible(Exception):
    """This operator does not go with these operands: another one is drawn."""


class World:
    """A set of extents, and whether floats are float64."""

    def __init__(self, symbols, wide):
        self.symbols, self.wide = symbols, wide

    def extent(self, text):
        return self.symbols[text] if text in self.symbols else int(text)

    def shape(self, dims):
        return tuple(self.extent(d) for d in dims)

    def dtype(self, name):
        return "float64" if self.wide and name.startswith("float") else name


class Value:
    def __init__(self, name, dtype, dims, arrays):
        self.name, self.dtype, self.dims, self.arrays = name, dtype, list(dims), arrays
        self.guessed = False  # it is an input of indices, booleans ... whose elements mean something

    @property
    def ndim(self):
        return len(self.dims)

    def is_float(self):
        return self.dtype.startswith("float")

    def is_int(self):
        return self.dtype.startswith(("int", "uint"))

    def is_exact(self):
        pairs = zip(self.arrays[0::2], self.arrays[1::2])
        return not self.is_float() or all(np.array_equal(a.astype("float64"), b, equal_nan=True) for a, b in pairs)

    def all(self, holds):
        return all(np.all(holds(a)) for a in self.arrays)

    def is_finite(self):
        return not self.is_float() or self.all(np.isfinite)

    def extents(self, axis):
        return [a.shape[axis] for a in self.arrays]

    def is_known(self, axis):
        return self.dims[axis] is not None and self.dims[axis].isdigit()


def type_of(dims, dtype, quoted=False):
    text = ["\"%s\"" % d if quoted and not d.isdigit() else d for d in dims]
    return "R.Tensor((%s%s), dtype=\"%s\")" % (", ".join(text), "," if len(text) == 1 else "", dtype)


class Graph:
    """Bindings, and the values that there are. A branch is one within another: its parameters are what it uses of that."""

    def __init__(self, rng, worlds, palette, special=False, outer=None, name="main"):
        self.rng, self.worlds, self.palette, self.special, self.outer, self.name = rng, worlds, palette, special, outer, name
        self.values, self.inputs, self.lines, self.used = [], [], [], []
        self.root = outer.root if outer else self
        if not outer:
            self.n_names, self.depth, self.functions, self.operators = 0, 0, [], set()

    # --- drawing ---------------------------------------------------------------------------------

    def choice(self, items):
        if not len(items):
            raise Impossible
        return items[self.rng.integers(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, base="v"):
        self.root.n_names += 1
        return "%s%d" % (base, self.root.n_names)

    def visible(self):
        return self.values + (self.outer.visible() if self.outer else [])

    def pick(self, holds=lambda v: True):
        """One that there is, of late ones more often."""
        found = [v for v in self.visible() if not v.guessed and holds(v)]
        if not found:
            raise Impossible
        return found[int(len(found) * self.rng.random() ** (1 if self.outer else 0.7))]

    def elements(self, dtype, shape):
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if not dtype.startswith("float"):
            low = 0 if dtype.startswith("u") else -9
            return self.rng.integers(low, 10, shape).astype(dtype)
        x = (self.rng.integers(-12, 13, shape) / 4).astype(dtype)  # sums and products of a few are exact
        if self.chance(0.25):
            x = self.rng.uniform(-2, 2, shape).astype(dtype)
        if self.special and x.size and self.chance(0.4):
            flat = x.reshape(-1)
            flat[self.rng.integers(x.size)] = self.choice([np.nan, np.inf, -np.inf, -0.0])
        return x

    def input(self, dims, dtype, make=None, guessed=False):
        """A parameter of main; make(shape, symbols) gives its elements."""
        if None in dims:
            raise Impossible
        root, arrays = self.root, []
        for world in root.worlds[0::2]:
            shape = world.shape(dims)
            a = np.asarray(make(shape, world) if make else self.elements(dtype, shape)).astype(dtype)
            arrays += [a, a.astype("float64") if dtype.startswith("float") else a]
        v = Value(root.fresh("x"), dtype, dims, arrays)
        v.guessed = guessed
        root.inputs.append(v)
        root.values.append(v)
        return v

    # --- text ------------------------------------------------------------------------------------

    def use(self, v):
        """Its name here."""
        g = self
        if v not in g.values and None in v.dims:  # a parameter has a type
            raise Impossible
        while v not in g.values:
            if v not in g.used:
                g.used.append(v)
            g = g.outer
        return v.name

    def bind(self, values, f, dims, dtype=None):
        """What f(world, *arrays) makes of values, without a line yet."""
        dtype, arrays = dtype or values[0].dtype, []
        for i, world in enumerate(self.worlds):
            with np.errstate(all="ignore"):
                arrays.append(np.asarray(f(world, *[v.arrays[i] for v in values])).astype(world.dtype(dtype), copy=False))
        known = [d if d is not None or self.worlds[0].symbols else str(arrays[0].shape[k]) for k, d in enumerate(dims)]
        for world, a in zip(self.worlds, arrays):
            assert a.ndim == len(known) and all(d is None or world.extent(d) == e for d, e in zip(known, a.shape)), (f, known, a.shape)
        v = Value(None, dtype, known, arrays)
        self.check(v)
        v.name = self.fresh()
        return v

    def add(self, op, text, values, f, dims, dtype=None):
        """y = R.op(text), the names of values in place of {}."""
        v = self.bind(values, f, dims, dtype)
        self.lines.append("%s = R.%s(%s)" % (v.name, op, text.format(*[self.use(x) for x in values])))
        self.values.append(v)
        self.root.operators.add(op)
        return v

    def check(self, v):
        """Sizes and numbers stay small, and known well enough to compare."""
        if any(a.size > 20000 for a in v.arrays):
            raise Impossible
        if not v.is_float():
            return
        for native, wide in zip(v.arrays[0::2], v.arrays[1::2]):
            known = np.isfinite(native) & np.isfinite(wide)
            if (np.isfinite(native) != np.isfinite(wide)).any() or not (self.special or known.all()):
                raise Impossible
            if not known.any():
                continue
            size, apart = np.abs(wide[known]).max(), np.abs(native[known].astype("float64") - wide[known]).max()
            if size > (200 if v.dtype == "float16" else 3e4) or apart > 1e5 * EPS[v.dtype] * max(1, size):
                raise Impossible

    def function(self, results):
        """Its lines as a function of the module."""
        given = self.used if self.outer else self.inputs
        symbols = sorted({d for v in given for d in v.dims if d in self.worlds[0].symbols})
        params = ", ".join("%s: %s" % (v.name, type_of(v.dims, v.dtype, True)) for v in given)
        names = [v.name for v in results]
        lines = ["def %s(%s):" % (self.name, params)] + ["    %s = T.int64()" % s for s in symbols] + ["    cls = Module"]
        lines += ["    " + line for line in self.lines] + ["    return " + (names[0] if len(names) == 1 else "(%s)" % ", ".join(names)), ""]
        return "".join("    %s\n" % line for line in ["@R.function(private=True)" if self.outer else "@R.function"] + lines)

    def module(self, results):
        return "@I.ir_module\nclass Module:\n" + "".join(self.functions) + self.function(results)
