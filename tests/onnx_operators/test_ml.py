"""Operators of ai.onnx.ml against numpy: trees are walked node by node."""

import numpy as np
import pytest

from test_conversions import SEED, floats, int64, run, softmax

MODES = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}
X = np.round(floats(9, 4) * 2) / 2
NAN = X.copy()
NAN[::2, 1] = np.nan


def grow(modes, missing, rng, ids):
    """A tree as lists of (id, column, value, mode, missing, first, second); leaves have a mode of their own."""
    nodes = []

    def add(depth):
        place = len(nodes)
        nodes.append(None)
        if depth == 0 or place and rng.random() < 0.25:
            nodes[place] = (place, 0, 0.0, "LEAF", 0, 0, 0)
        else:
            first, second = add(depth - 1), add(depth - 1)
            nodes[place] = (place, int(rng.integers(4)), float(rng.integers(-3, 4)) / 2, str(rng.choice(modes)), int(rng.integers(2)) if missing else 0, first, second)
        return place

    add(4)
    name = (lambda i: 7 * i + 2) if ids else (lambda i: i)
    return [(name(n), c, v, m, t, name(a), name(b)) for n, c, v, m, t, a, b in nodes]


def leaf_of(tree, row):
    at = {n[0]: n for n in tree}
    node = tree[0]
    while node[3] != "LEAF":
        x = row[node[1]]
        node = at[node[5] if MODES[node[3]](x, np.float32(node[2])) or np.isnan(x) and node[4] else node[6]]
    return node[0]


def forest(modes, targets, many, missing=False, ids=False, positive=False, seed=1):
    rng = np.random.default_rng(seed)
    trees = [grow(modes, missing, rng, ids) for _ in range(5)]
    nodes = [(k, *n) for k, tree in enumerate(trees) for n in tree]
    leaves = [(k, n[0], t, float(np.float32(rng.random() if positive else rng.standard_normal()))) for k, tree in enumerate(trees) for n in tree if n[3] == "LEAF"
              for t in (range(targets) if many else [int(rng.integers(targets))])]
    keys = ("treeids", "nodeids", "featureids", "values", "modes", "missing_value_tracks_true", "truenodeids", "falsenodeids")
    return trees, leaves, {"nodes_" + key: [n[i] for n in nodes] for i, key in enumerate(keys)}


def sums(trees, leaves, x, targets, aggregate="SUM"):
    out = np.zeros((len(x), targets), "float32")
    for i, row in enumerate(x):
        own = [[] for _ in range(targets)]
        for k, tree in enumerate(trees):
            leaf = leaf_of(tree, row)
            for t, n, target, weight in leaves:
                if (t, n) == (k, leaf):
                    own[target].append(np.float32(weight))
        f = {"SUM": sum, "MIN": min, "MAX": max, "AVERAGE": lambda v: sum(v) / len(trees)}[aggregate]
        out[i] = [f(v) if v else 0 for v in own]
    return out


def regression(modes=("BRANCH_LEQ",), targets=1, many=True, aggregate="SUM", x=X, base=None, transform="NONE", **more):
    trees, leaves, nodes = forest(modes, targets, many, **more)
    keys = ("treeids", "nodeids", "ids", "weights")
    attributes = {**nodes, **{"target_" + key: [n[i] for n in leaves] for i, key in enumerate(keys)}, "n_targets": targets}
    attributes |= ({"aggregate_function": aggregate} if aggregate != "SUM" else {}) | ({"base_values": base} if base else {}) | ({"post_transform": transform} if transform != "NONE" else {})
    return "TreeEnsembleRegressor", [x], [transformed(sums(trees, leaves, x, targets, aggregate) + np.float32(base or 0), transform)], attributes


def sigmoid(x):
    return (1 / (1 + np.exp(-x.astype("float64")))).astype("float32")


def transformed(x, name):
    if name == "SOFTMAX_ZERO":
        some = np.abs(x) > 1e-7
        e = np.where(some, np.exp(x - x.max(1, keepdims=True)), x)
        return e / e.sum(1, keepdims=True)
    return softmax(x, 1) if name == "SOFTMAX" else sigmoid(x) if name == "LOGISTIC" else x


def classes(labels, transform="NONE", many=True, base=None, x=X, **more):
    trees, leaves, nodes = forest(("BRANCH_LEQ",), len(labels), many, **more)
    keys = ("treeids", "nodeids", "ids", "weights")
    attributes = {**nodes, **{"class_" + key: [n[i] for n in leaves] for i, key in enumerate(keys)}, "classlabels_int64s": labels}
    attributes |= ({"base_values": base} if base else {}) | ({"post_transform": transform} if transform != "NONE" else {})
    scores = sums(trees, leaves, x, len(labels)) + np.float32(base or 0)
    return "TreeEnsembleClassifier", [x], [np.array(labels)[scores.argmax(1)], transformed(scores, transform)], attributes


def two_classes(transform, positive, of=0):
    """One score, which the file gives to the first class or the second; it is the second one's."""
    trees, leaves, nodes = forest(("BRANCH_LEQ",), 1, True, positive=positive)
    leaves = [(k, n, of, w / 5 if positive else w) for k, n, _, w in leaves]
    keys = ("treeids", "nodeids", "ids", "weights")
    attributes = {**nodes, **{"class_" + key: [n[i] for n in leaves] for i, key in enumerate(keys)}, "classlabels_int64s": [3, 8]}
    attributes |= {"post_transform": transform} if transform != "NONE" else {}
    s = sums(trees, [(k, n, 0, w) for k, n, _, w in leaves], X, 1)[:, 0]
    both = [1 - s, s] if positive else [sigmoid(-s), sigmoid(s)] if transform == "LOGISTIC" else [-s, s]
    both = [0 * s, s] if of else both
    return "TreeEnsembleClassifier", [X], [np.where(s > (0.5 if positive else 0), 8, 3), np.stack(both, 1)], attributes


def of_leaves(aggregate):
    """Opset 5: two trees; the first asks whether column 0 is 1, 2 or NaN's neighbour 0.5."""
    attributes = {"n_targets": 2, "tree_roots": [0, 2], "nodes_featureids": [0, 1, 2], "nodes_splits": np.array([0, 0.5, -0.5], "float32"), "nodes_modes": np.array([6, 0, 3], "uint8"),
                  "nodes_truenodeids": [0, 1, 2], "nodes_trueleafs": [1, 1, 1], "nodes_falsenodeids": [1, 2, 3], "nodes_falseleafs": [0, 1, 1], "leaf_targetids": [0, 1, 0, 1],
                  "leaf_weights": np.array([1, 2, 4, 8], "float32"), "membership_values": np.array([1, 2, 0.5, np.nan], "float32"), "aggregate_function": aggregate}
    y = np.zeros((len(X), 2), "float32")
    for i, r in enumerate(X):
        first = (0, 1) if r[0] in (1, 2, 0.5) else (1, 2) if r[1] <= 0.5 else (0, 4)
        second = (0, 4) if r[2] > -0.5 else (1, 8)
        own = [[w for t, w in (first, second) if t == k] for k in (0, 1)]
        y[i] = [(sum(v) / 2 if aggregate == 0 else sum(v) if aggregate == 1 else min(v) if aggregate == 2 else max(v)) if v else 0 for v in own]
    return "TreeEnsemble", [X], [y], attributes


def kernels():
    sv, coef, gamma, c0 = floats(5, 4), floats(5), 0.5, 0.25
    rbf = np.exp(-np.float32(gamma) * ((X[:, None] - sv[None]) ** 2).sum(2))
    poly = (np.float32(gamma) * X @ sv.T + np.float32(c0)) ** 3
    for kind, k in (("RBF", rbf), ("POLY", poly), ("SIGMOID", np.tanh(np.float32(gamma) * X @ sv.T + np.float32(c0))), ("LINEAR", X @ sv.T)):
        attributes = {"coefficients": coef.tolist(), "support_vectors": sv.ravel().tolist(), "n_supports": 5, "kernel_type": kind, "kernel_params": [gamma, c0, 3.0], "rho": [0.5]}
        yield "SVMRegressor", [X], [(k @ coef + np.float32(0.5))[:, None]], attributes
    yield "SVMRegressor", [X], [np.where(X @ coef[:4] - 1 > 0, 1, -1)[:, None].astype("float32")], {"coefficients": coef[:4].tolist(), "rho": [-1.0], "one_class": 1}
    counts, weights, rho = [2, 1, 2], floats(2, 5), floats(3)
    of = np.repeat(np.arange(3), counts)
    pairs = [(0, 1), (0, 2), (1, 2)]
    scores = np.stack([rbf[:, of == i] @ weights[j - 1, of == i] + rbf[:, of == j] @ weights[i, of == j] + r for (i, j), r in zip(pairs, rho)], 1)
    votes = np.stack([sum((s > 0) if i == c else (s <= 0) if j == c else 0 * s for (i, j), s in zip(pairs, scores.T)) for c in range(3)], 1)
    attributes = {"support_vectors": sv.ravel().tolist(), "kernel_type": "RBF", "kernel_params": [gamma, 0.0, 0.0], "classlabels_ints": [5, 6, 9]}
    yield "SVMClassifier", [X], [np.array([5, 6, 9])[votes.argmax(1)], scores], {**attributes, "coefficients": weights.ravel().tolist(), "rho": rho.tolist(), "vectors_per_class": counts}
    s = rbf @ weights[0] + rho[0]
    share = sigmoid(-(s * np.float32(-1.5) + np.float32(0.25)))
    yield ("SVMClassifier", [X], [np.where(share >= 0.5, 5, 6), np.stack([share, 1 - share], 1)],
           {**attributes, "classlabels_ints": [5, 6], "coefficients": weights[0].tolist(), "rho": rho[:1].tolist(), "vectors_per_class": [2, 3], "prob_a": [-1.5], "prob_b": [0.25]})


W, B = floats(3, 4), floats(3)
LINES = X @ W.T + B
ONE = X @ W[0] + B[0]
CASES = [
    # operator, inputs, outputs, attributes
    regression(), regression(targets=2), regression(targets=3, many=False), regression(list(MODES)), regression(["BRANCH_GT"], ids=True), regression(["BRANCH_LT"], x=NAN, missing=True),
    regression(x=NAN), regression(aggregate="AVERAGE", targets=2), regression(aggregate="MIN", many=False, targets=2), regression(aggregate="MAX", base=[1.5]),
    regression(x=X.astype("float64")), regression(x=np.round(X * 2).astype("int64"), transform="LOGISTIC"), regression(targets=3, transform="SOFTMAX"), regression(targets=3, many=False, transform="SOFTMAX_ZERO"),
    classes([4, 2, 7]), classes([0, 1, 2], "SOFTMAX", base=[0.5, -1.0, 0.25]), classes([0, 1, 2], "LOGISTIC", many=False), classes([1, 0]),
    two_classes("NONE", False), two_classes("LOGISTIC", False), two_classes("NONE", True), two_classes("NONE", True, 1), two_classes("NONE", False, 1),
    *[of_leaves(a) for a in range(4)], *kernels(),
    ("Scaler", [X], [(X - W[0]) * W[1]], {"offset": W[0].tolist(), "scale": W[1].tolist()}), ("Scaler", [np.arange(4)], [np.arange(4, dtype="float32") * 0.5], {"scale": [0.5]}),
    ("Normalizer", [X], [X / np.abs(X).sum(1, keepdims=True)], {"norm": "L1"}), ("Normalizer", [np.array([[0, 0, 0], [3, 0, 4]], "float32")], [np.array([[0, 0, 0], [0.6, 0, 0.8]], "float32")], {"norm": "L2"}),
    ("Binarizer", [X], [(X > 0.5).astype("float32")], {"threshold": 0.5}), ("Imputer", [NAN], [np.where(np.isnan(NAN), W[0], NAN)], {"imputed_value_floats": W[0].tolist(), "replaced_value_float": float("nan")}),
    ("Imputer", [int64(1, -1, 3)], [int64(1, 9, 3)], {"imputed_value_int64s": [9], "replaced_value_int64": -1}),
    ("ArrayFeatureExtractor", [X, int64(2, 0)], [X[:, [2, 0]]], {}), ("FeatureVectorizer", [X, np.arange(9).reshape(9, 1)], [np.concatenate([X, np.arange(9, dtype="float32")[:, None]], 1)], {"inputdimensions": [4, 1]}),
    ("OneHotEncoder", [int64(3, 5, 9)], [np.array([[0, 1], [1, 0], [0, 0]], "float32")], {"cats_int64s": [5, 3]}),
    ("LabelEncoder", [int64(3, 5, 9)], [np.array([0.5, 1.5, -1], "float32")], {"keys_int64s": [3, 5], "values_floats": [0.5, 1.5], "default_float": -1.0}),
    ("LabelEncoder", [np.array([1.5, np.nan, 2], "float32")], [int64(7, 8, -1)], {"keys_floats": [1.5, float("nan")], "values_int64s": [7, 8]}), ("ZipMap", [X], [X], {"classlabels_int64s": [0, 1, 2, 3]}),
    ("LinearRegressor", [X], [LINES], {"coefficients": W.ravel().tolist(), "intercepts": B.tolist(), "targets": 3}),
    ("LinearClassifier", [X], [np.array([2, 4, 6])[LINES.argmax(1)], softmax(LINES, 1)], {"coefficients": W.ravel().tolist(), "intercepts": B.tolist(), "classlabels_ints": [2, 4, 6], "post_transform": "SOFTMAX"}),
    ("LinearClassifier", [X], [np.where(ONE > 0, 4, 2), np.stack([sigmoid(-ONE), sigmoid(ONE)], 1)],
     {"coefficients": W[0].tolist(), "intercepts": B[:1].tolist(), "classlabels_ints": [2, 4], "post_transform": "LOGISTIC"}),
]


@pytest.mark.parametrize("case", CASES, ids=["%d-%s" % (i, case[0]) for i, case in enumerate(CASES)])
def test_ml(tmp_path, case):
    op, inputs, outputs, attributes = case
    outputs = [np.asarray(a) if np.asarray(a).dtype != "float64" else np.asarray(a, "float32") for a in outputs]
    result = run(tmp_path, "ai.onnx.ml." + op, inputs, outputs, 15, attributes)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no-rule" not in result.stderr


def test_labels(tmp_path):
    """Strings are the places of the labels among those of the file."""
    op, inputs, outputs, attributes = classes([0, 1, 2])
    attributes["classlabels_strings"] = ["ant", "bee", "cow"]
    del attributes["classlabels_int64s"]
    result = run(tmp_path, "ai.onnx.ml." + op, inputs, outputs, 15, attributes)
    assert result.returncode == 0, result.stdout + result.stderr


def tree(**changed):
    return {**regression()[3], **changed}


FIRST = len(tree()["nodes_nodeids"])
REFUSED = [
    ("TreeEnsembleRegressor", tree(nodes_modes=["BRANCH_ODD"] * FIRST), "BRANCH_ODD"), ("TreeEnsembleRegressor", tree(aggregate_function="MEDIAN"), "MEDIAN"),
    ("TreeEnsembleRegressor", tree(nodes_treeids=[0] * (FIRST - 1) + [1]), "does not have"), ("TreeEnsembleRegressor", tree(nodes_featureids=[99] * FIRST), "column"),
    ("TreeEnsembleRegressor", tree(post_transform="ODD"), "ODD"), ("CastMap", {}, "maps"), ("LabelEncoder", {"keys_strings": ["a"], "values_int64s": [1]}, "keys_strings"),
    ("OneHotEncoder", {"cats_strings": ["a"]}, "cats_strings"),
]


@pytest.mark.parametrize("case", REFUSED, ids=["%d-%s" % (i, case[0]) for i, case in enumerate(REFUSED)])
def test_refused(tmp_path, case):
    op, attributes, word = case
    result = run(tmp_path, "ai.onnx.ml." + op, [X], [X[:, :1]], 15, attributes)
    assert result.returncode == 2 and word in result.stderr, result.stderr
