"""Graphs whose values are visited, and made anew, one by one."""

import numpy as np
import pytest

import tirc as tvm
from tirc import relax, te, topi
from tirc.relax.transform import with_types
from tirc.script import ir as I
from tirc.script import relax as R
from tirc.script import tir as T


@I.ir_module
class Net:
    I.module_attrs({"of": "a test"})

    @T.prim_func
    def twice(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
        for i, j in T.grid(2, 4):
            with T.block("twice"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        cls = Net
        with R.dataflow():
            turned = R.permute_dims(w, axes=[1, 0])
            lv = R.matmul(x, turned)
            lv1 = R.nn.relu(lv)
            lv2 = R.call_tir(cls.twice, (lv1,), out_sinfo=R.Tensor((2, 4), "float32"))
            parts = R.split(lv2, 2, axis=1)
            left = parts[0]
            right = parts[1]
            gv = R.concat((right, left), axis=1)
            R.output(gv)
        return gv


X = np.arange(8, dtype="float32").reshape(2, 4) - 3
W = np.arange(16, dtype="float32").reshape(4, 4) - 7


def rewritten(mutator, mod=Net):
    """The module with all graphs as the mutator makes them."""
    for var, f in mod.functions_items():
        if isinstance(f, relax.Function):
            mutator.builder_.update_func(var, mutator.visit_expr(f))
    return mutator.builder_.get()


def run(mod, *args):
    return relax.VirtualMachine(relax.build(mod, relax_pipeline=None))["main"](*args or (X, W)).numpy()


def expected(activation):
    y = 2 * activation(X @ W.T)
    return np.concatenate([y[:, 2:], y[:, :2]], 1)


def relu(x):
    return np.maximum(x, 0)


def test_a_visitor_sees_all_values_in_their_order():
    @relax.expr_functor.visitor
    class Names(relax.PyExprVisitor):
        def __init__(self):
            self.seen = []

        def visit_call_(self, call):
            super().visit_call_(call)
            self.seen.append(call.op.name)

        def visit_constant_(self, constant):
            self.seen.append(constant.data.numpy().tolist())

        def visit_var_def(self, var):
            self.seen.append(str(var))

        def visit_global_var_(self, var):
            self.seen.append("the function " + var.name_hint)

    names = Names()
    names.visit_expr(Net["main"])
    assert names.seen == ["x", "w", "relax.permute_dims", "turned", "relax.matmul", "lv", "relax.nn.relu", "lv1", "the function twice", "relax.call_tir", "lv2",
                          "relax.split", "parts", "left", "right", "relax.concat", "gv"]
    names.seen.clear()
    names.visit_expr(tvm.parse("@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    gv = R.add(x, R.const([1.0, 2.0], \"float32\"))\n    return gv\n")["main"])
    assert names.seen == ["x", [1.0, 2.0], "relax.add", "gv"]


def test_views_of_a_graph():
    f = Net["main"]
    assert [str(p) for p in f.params] == ["x", "w"] and f.params[1].struct_info.shape == (4, 4)
    block, = f.body.blocks
    assert isinstance(block, relax.DataflowBlock) and str(f.body.body) == "gv"
    product = block.bindings[1]
    assert isinstance(product, relax.VarBinding) and product.var.struct_info == relax.TensorStructInfo((2, 4), "float32")
    assert isinstance(product.var, relax.DataflowVar) and not isinstance(block.bindings[-1].var, relax.DataflowVar)
    call = product.value
    assert isinstance(call, relax.Call) and call.op == tvm.ir.Op.get("relax.matmul") and call.args[0] is f.params[0]
    assert block.bindings[0].value.attrs.axes == [1, 0] and call.struct_info.dtype == "float32"
    parts, left, _, both = [b.value for b in block.bindings[-4:]]
    assert parts.args[1] == 2 and parts.attrs["axis"] == 1
    assert isinstance(both.args[0], relax.Tuple) and isinstance(both.args[0].fields[0], relax.Var) and left.index == 0
    with pytest.raises(AttributeError, match="does not say way: axis"):
        parts.attrs.way
    with pytest.raises(AttributeError, match="there is no operator relax.nn.rely"):
        tvm.ir.Op.get("relax.nn.rely")


def test_nothing_changes():
    class Same(relax.PyExprMutator):
        pass
    same = rewritten(Same(Net))
    tvm.ir.assert_structural_equal(with_types(same), with_types(Net))
    assert "a test" in same.script()
    assert np.allclose(run(same), expected(relu))


def test_an_operator_for_another():
    @relax.expr_functor.mutator
    class Tanh(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if call.op == tvm.ir.Op.get("relax.nn.relu"):
                assert call.struct_info.shape == (2, 4)
                return relax.op.tanh(call.args[0] * 2.0)
            return call
    assert np.allclose(run(rewritten(Tanh(Net))), expected(lambda x: np.tanh(2 * x)), rtol=1e-5)


def test_functions_of_te_and_of_programs():
    class Loops(relax.PyExprMutator):
        def visit_var_def(self, var):
            if str(var) == "w":
                self.w = var
            return super().visit_var_def(var)

        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if isinstance(call.op, tvm.ir.Op) and call.op.name == "relax.nn.relu":
                return self.builder_.call_te(lambda x: te.compute(x.shape, lambda i, j: te.max(x[i, j], 0) + 1.0, name="more"), call.args[0],
                                             primfunc_name_hint="more")
            if call.op.name == "relax.matmul":
                assert self.lookup_binding(call.args[0]) is None
                return self.builder_.call_te(topi.matmul, call.args[0], self.builder_.emit(relax.op.permute_dims(self.visit_expr(self.w))))
            if call.op.name == "relax.call_tir" and call.args[0] == "twice":
                assert self.lookup_binding(call.args[1].fields[0]).op.name == "relax.call_tir"
                var = self.builder_.add_func(Net["twice"].with_attr("copied", True), "double")
                return relax.call_tir(var, call.args[1].fields, call.sinfo_args[0])
            return call
    made = rewritten(Loops(Net))
    assert sorted(made.functions) == ["double", "matmul", "more", "twice"]
    assert np.allclose(run(made), expected(lambda x: relu(x) + 1), rtol=1e-5)


def test_open_extents_and_names_that_are_taken():
    text = """@R.function
def main(x: R.Tensor(("n", 4), "float32"), lv1: R.Tensor((4,), "float32")):
    n = T.int64()
    with R.dataflow():
        lv: R.Tensor((n, 4), "float32") = R.add(x, lv1)
        gv: R.Tensor((n, 4), "float32") = R.nn.relu(lv)
        gv1: R.Tensor((n * 4,), "float32") = R.reshape(gv, R.shape([n * 4]))
        R.output(gv, gv1)
    return (gv, gv1)
"""

    class Twice(relax.PyExprMutator):
        def visit_var_binding_(self, binding):
            super().visit_var_binding_(binding)
            if binding.value.op.name == "relax.add":
                more = self.builder_.emit(relax.op.add(self.get_var_remap(binding.var), relax.const(1.0)))
                self.set_var_remap(binding.var, more)
    mod = tvm.parse(text)
    made = rewritten(Twice(mod), mod)
    x, b = X, np.ones(4, "float32")
    rows, flat = relax.VirtualMachine(relax.build(made))["main"](x, b)
    assert np.allclose(rows.numpy(), relu(x + 2)) and np.allclose(flat.numpy(), relu(x + 2).reshape(-1))


def test_a_graph_that_calls_another():
    text = """@I.ir_module
class Module:
    @R.function(private=True)
    def inner(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        gv: R.Tensor((4,), "float32") = R.negative(x)
        return gv

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        gv: R.Tensor((4,), "float32") = cls.inner(x)
        return gv
"""

    class Exp(relax.PyExprMutator):
        def visit_call_(self, call):
            return relax.op.exp(self.visit_expr(call.args[0])) if call.op == tvm.ir.Op.get("relax.negative") else self.visit_expr_post_order(call)
    mod = tvm.parse(text)
    made = rewritten(Exp(mod), mod)
    assert "private=True" in made.script()
    assert np.allclose(run(made, X[0]), np.exp(X[0]))


def test_what_a_mutator_makes_must_be_a_graph():
    class Wrong(relax.PyExprMutator):
        def visit_call_(self, call):
            return relax.op.matmul(call.args[0], call.args[0]) if call.op.name == "relax.nn.relu" else call
    with pytest.raises(tvm.TVMError):
        run(rewritten(Wrong(Net)))
    with pytest.raises(TypeError, match="a graph has no"):
        class Nothing(relax.PyExprMutator):
            def visit_call_(self, call):
                return object()
        rewritten(Nothing(Net))


def test_passes_over_functions_keep_graphs():
    """Of a module with both."""
    marked = tvm.tir.transform.prim_func_pass(lambda f, mod, ctx: f.with_attr("marked", 1), opt_level=0)(Net)
    assert marked["twice"].attrs["marked"] == 1 and np.allclose(run(marked), expected(relu))
    assert "main" in tvm.tir.transform.Filter(lambda f: True)(Net)
    assert "threadIdx.x" in tvm.tir.transform.DefaultGPUSchedule()(Net)["twice"].script() and "main" in tvm.tir.transform.DefaultGPUSchedule()(Net)


def test_a_scheduled_function_for_each_call():
    """As public scripts do it: a function of the module is looked up, changed, added under another name, and called instead."""
    class Scheduled(relax.PyExprMutator):
        def __init__(self, mod):
            super().__init__(mod)
            self.mod = mod

        def transform(self):
            for var, f in self.mod.functions_items():
                if isinstance(f, relax.Function):
                    self.builder_.update_func(var, self.visit_expr(f).with_attr("rewritten", 1))
            return self.builder_.finalize()

        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if call.op != tvm.ir.Op.get("relax.call_tir"):
                return self.builder_.normalize(call)
            sch = tvm.tir.Schedule(self.mod[call.args[0]])
            sch.parallel(sch.get_loops("twice")[0])
            assert call.struct_info.shape.values == [2, 4]
            return relax.op.call_tir(self.builder_.add_func(sch.mod["main"], "scheduled"), call.args[1], out_sinfo=call.struct_info)
    made = Scheduled(Net).transform()
    assert made["main"].attrs == {"rewritten": 1} and "T.parallel" in made["scheduled"].script() and "cls.twice" not in made.script()
    assert np.allclose(run(made), expected(relu))
    assert made["main"].without_attr("rewritten").attrs == {} and "of" in made["main"].with_attr({"of": [1, "x"]}).script()


CHAIN = """@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        lv = R.nn.relu(x)
        lv1 = R.tanh(lv)
        lv2 = R.add(lv1, lv)
        R.output(lv2)
    return lv2
"""
V = np.array([-1, 0, 1, 2], "float32")


def test_a_new_value_with_an_old_name_is_itself():
    """What is emitted may be called as another value of the graph that is read."""
    class Saved(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if call.op.name == "relax.nn.relu":
                self.saved = self.builder_.emit(relax.op.exp(self.builder_.emit(relax.op.negative(call.args[0]))))
                assert str(self.saved) == "lv1" and self.lookup_binding(self.saved) is None
                return relax.op.nn.relu(self.saved)
            return self.visit_expr_post_order(relax.op.multiply(call.args[0], self.saved)) if call.op.name == "relax.add" else call
    mod = tvm.parse(CHAIN)
    assert np.allclose(run(rewritten(Saved(mod), mod), V), np.tanh(np.exp(-V)) * np.exp(-V), rtol=1e-5)


def test_each_value_is_visited_once():
    names = []
    relax.analysis.post_order_visit(tvm.parse("@R.function\ndef main(x: R.Tensor((4,), \"float32\")):\n    y = R.add(x, x)\n    z = R.multiply(y, y)\n    return z\n")["main"],
                                    lambda value: names.append(str(value)) if isinstance(value, relax.Expr) else None)
    assert names == ["x", "R.add(x, x)", "y", "R.multiply(y, y)", "z"]


def test_parameters_of_a_mutator():
    class Renamed(relax.PyExprMutator):
        def visit_var_def(self, var):
            return relax.Var("lv", relax.TensorStructInfo((tvm.tir.Var("m", "int64"),), "float32")) if str(var) == "x" else var
    mod = tvm.parse(CHAIN)
    assert np.allclose(run(mod, V), np.tanh(relu(V)) + relu(V), rtol=1e-5)  # a graph without a class around it
    made = rewritten(Renamed(mod), mod)
    assert [str(p) for p in made["main"].params] == ["lv"] and made["main"].params[0].struct_info.shape.values[0].name == "m"
    assert np.allclose(run(made, V), np.tanh(relu(V)) + relu(V), rtol=1e-5)

    class Nothing(relax.PyExprMutator):
        def visit_var_def(self, var):
            return None
    with pytest.raises(TypeError, match="visit_var_def gives a Var for the parameter x, not None"):
        rewritten(Nothing(mod), mod)


def test_a_graph_with_an_if_is_not_visited():
    """Its parameters and attributes are known; what its branches do is not."""
    mod = tvm.parse("""@I.ir_module
class Module:
    @R.function
    def small(x: R.Tensor(("n", 4), "float32")):
        gv = R.nn.relu(x)
        return gv

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
        R.func_attr({"k": 1})
        cls = Module
        if c:
            y = cls.small(x)
        else:
            y = x
        return y
""")
    f = mod["main"]
    assert [str(p) for p in f.params] == ["x", "c"] and f.attrs == {"k": 1} and f.with_attr("l", 2).attrs == {"k": 1, "l": 2}
    for visit in (relax.PyExprVisitor().visit_expr, relax.PyExprMutator(mod).visit_expr, lambda f: relax.analysis.post_order_visit(f, print), lambda f: f.body):
        with pytest.raises(tvm.TVMError, match="a graph with an `if` cannot be visited"):
            visit(f)


def test_elements_of_constants():
    def data(text):
        found = []

        class Constants(relax.PyExprVisitor):
            def visit_constant_(self, constant):
                found.append(constant.data.numpy())
        Constants().visit_expr(tvm.parse("@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    lv = %s\n    return lv\n" % text)["main"])
        return found[0]
    assert data('R.const([1.0, float("inf")], "float32")').tolist() == [1.0, np.inf]
    assert data('R.const([float("-inf")], "float32")').tolist() == [-np.inf]
    assert np.isnan(data('R.const([float("nan")], "float32")')[0])
    halves = data('R.const([1.5, -2.0], "bfloat16")')
    assert halves.dtype == "uint16" and halves.tolist() == [0x3FC0, 0xC000]  # their bits, as of results
