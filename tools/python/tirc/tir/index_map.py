"""tirc.tir.index_map: functions of indices, as transform_layout takes them."""

import inspect


class IndexMap:
    """IndexMap.from_func(lambda i, j: (j, i)): called with indices, it gives those that they become."""

    AXIS_SEPARATOR = "axis_separator"

    def __init__(self, mapping_function, names):
        self.mapping_function, self._names, self._made = mapping_function, names, None

    @staticmethod
    def from_func(mapping_function, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        """inverse_index_map is worked out, and need not be given; index_dtype: of initial_indices."""
        if isinstance(mapping_function, IndexMap):
            return mapping_function
        if inverse_index_map is not None:
            raise ValueError("the inverse of a map follows from it")
        parameters = inspect.signature(mapping_function).parameters.values()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if any(p.kind == p.VAR_POSITIONAL for p in parameters):
            names = ["i%d" % i for i in range(ndim)] if ndim is not None else None
        made = IndexMap(mapping_function, names)
        made.index_dtype = index_dtype
        return made

    def __call__(self, *indices):
        return self.mapping_function(*indices)

    def map_indices(self, indices):
        """What these indices become."""
        return _flat(self(*indices))

    def _both(self):
        if self._names is None:
            raise ValueError("the map takes any number of indices: from_func(f, ndim=2) says how many")
        if self._made is None:
            from ..te import var
            indices = [var(name, self.index_dtype) for name in self._names]
            self._made = indices, self.map_indices(indices)
        return self._made

    initial_indices = property(lambda self: self._both()[0])
    final_indices = property(lambda self: self._both()[1])

    def is_equivalent_to(self, other):
        """Whether the other map takes the same indices to the same."""
        from ..arith import Analyzer
        mine, others = self.final_indices, other.map_indices(self.initial_indices)
        return len(mine) == len(others) and all(map(Analyzer().can_prove_equal, mine, others))

    def __repr__(self):
        return "<IndexMap (%s) -> (%s)>" % (", ".join(self._names or ["..."]), ", ".join(map(str, self.final_indices)) if self._names else "...")


def _flat(made):
    made = made if isinstance(made, (list, tuple)) else (made,)
    return [x for x in made if not (isinstance(x, str) and x == IndexMap.AXIS_SEPARATOR)]


__all__ = ["IndexMap"]
