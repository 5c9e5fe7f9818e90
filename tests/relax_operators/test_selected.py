"""What the data chooses: places where truths hold, boxes, and the leaves of trees."""

import numpy as np
import pytest
from harness import bools, check, floats, ints, refused

TREES, DEPTH = 11, 3
INNER, NODES = 2 ** DEPTH - 1, 2 ** (DEPTH + 1) - 1


@pytest.mark.parametrize("n", [1, 7, 40])
def test_where_true(n):
    for x in (bools(n), np.ones(n, bool), np.zeros(n, bool)):
        places = np.flatnonzero(x)
        check("where_true", [x], (np.pad(places, (0, n - len(places))), np.array(len(places))))
    refused("where_true", [floats(3)])


def overlap(a, b):
    height, width = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(height, 0) * max(width, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def test_select_boxes():
    low = floats(2, 9, 2)
    boxes = np.concatenate([low, low + floats(2, 9, 2, low=0.5, high=2)], 2)
    scores, found = floats(2, 2, 9), []
    for b in range(2):
        for c in range(2):
            chosen = []
            for i in np.argsort(-scores[b, c], kind="stable"):
                if len(chosen) < 4 and scores[b, c, i] > -1 and all(overlap(boxes[b, i], boxes[b, j]) <= 0.25 for j in chosen):
                    chosen.append(i)
            found += [[b, c, i] for i in chosen]
    rows = np.zeros((16, 3), "int64")
    rows[:len(found)] = found
    turned = boxes[..., [2, 1, 0, 3]].copy()  # any two corners
    middles = np.stack([(boxes[..., 1] + boxes[..., 3]) / 2, (boxes[..., 0] + boxes[..., 2]) / 2, boxes[..., 3] - boxes[..., 1], boxes[..., 2] - boxes[..., 0]], -1)
    for each, center in ((boxes, False), (turned, False), (middles, True)):
        check("vision.select_boxes", [each, scores], (rows, np.array(len(found))), most=4, overlap=0.25, least=-1.0, center=center)


def test_count_within():
    for n in (0, 3, 5):
        check("count_within", [np.array(n)], np.array(n), most=5, what="k")
    refused("count_within", [floats(3)], most=5)


def trees():
    """Full trees: columns, numbers, children, roots."""
    inside, place = np.arange(NODES) < INNER, np.arange(NODES)
    child = np.stack([np.where(inside, 2 * place + k, place) for k in (1, 2)], -1)
    child = (child[None] + NODES * np.arange(TREES)[:, None, None]).reshape(-1, 2)
    return [ints(TREES * NODES, low=0, high=3), np.round(floats(TREES * NODES) * 2) / 2, child.astype("int32"), (NODES * np.arange(TREES)).astype("int32")]


PASSES = [np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal]


def leaves(x, column, value, child, root, codes=None, missing=None):
    out = np.zeros((len(x), len(root)), int)
    for i, row in enumerate(x):
        for t, at in enumerate(root):
            while child[at, 0] != at:
                v = row[column[at]]
                first = PASSES[codes[at] if codes is not None else 0](v, value[at]) or missing is not None and missing[at] and np.isnan(v)
                at = child[at, 0 if first else 1]
            out[i, t] = at
    return out


@pytest.mark.parametrize("rows", [1, 3, 8, 300])
def test_ensemble(rows):
    x = np.round(floats(rows, 3) * 2) / 2
    x[::3, 1] = np.nan
    parts, weight = trees(), floats(TREES * NODES)
    found = leaves(x, *parts)
    check("ml.ensemble", [x, *parts, weight], weight[found].sum(1, keepdims=True))
    check("ml.ensemble", [x, *parts, weight], weight[found].max(1, keepdims=True), aggregate="max")
    wide = floats(TREES * NODES, 2)
    check("ml.ensemble", [x, *parts, wide], wide[found].sum(1), targets=2)
    target = ints(TREES * NODES, low=0, high=4)
    check("ml.ensemble", [x, *parts, weight, target], scattered(weight, target, found), targets=4)
    codes, missing = ints(TREES * NODES, low=0, high=6, dtype="int8"), ints(TREES * NODES, low=0, high=2, dtype="int8")
    check("ml.ensemble", [x, *parts, weight, target, codes, missing], scattered(weight, target, leaves(x, *parts, codes, missing)), targets=4)


def scattered(weight, target, found):
    sums = np.zeros((len(found), 4), "float32")
    for i, own in enumerate(found):
        np.add.at(sums[i], target[own], weight[own])
    return sums


def test_places():
    tree, number = np.repeat([4, 1, 7], [3, 2, 4]).astype("int32"), np.array([0, 1, 2, 5, 3, 0, 1, 3, 2], "int32")
    wanted = [(4, 2), (4, 0), (1, 3), (1, 5), (7, 3), (7, 1), (4, 1)]
    places = [[k for k in range(9) if (tree[k], number[k]) == w][0] for w in wanted]
    check("ml.places", [tree, number, *np.array(wanted, "int32").T.copy()], np.array(places, "int32"))
