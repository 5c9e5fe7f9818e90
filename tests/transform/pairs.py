"""Pairs of programs, before and after passes of the reference, in a .jsonl file: a verdict for each, and what is made of them.

A verdict is a word of `good`, or a reason why the pair differs or cannot be compared; a runner of a kind of pairs has a
`Suite` of its own and calls `main(suite)`.

Usage: RUNNER FILE.jsonl [--expect FILE] [--keep FOLDER] [--show WORD] [--only WORD] [--list] [--values FILE]"""

import argparse
import collections
import json
import pathlib
import re
from typing import Callable, NamedTuple


class Reason(Exception):
    """Why a pair cannot be compared; the text is a row of the table."""


class Suite(NamedTuple):
    """good: the verdicts that count, the best first. reasons: a part of a verdict, and what is to be said of it. page: the
    title and the first sentence of DIFFERENCES.md, for how many pairs there are and a count by verdict. short, long: bytes of pairs that
    are kept for the usual tests, and in all. of: what the last column of the page counts, which its docstring names."""

    good: tuple
    judged: Callable
    show: Callable
    reasons: list
    page: Callable
    short: int
    long: int
    of: Callable


def with_values(pairs, file):
    """The pairs with what the test gives names that are no names of theirs: {test: {name: text, "#parameters": "i: T.int32"}}, where
    parameters are added to the functions."""
    values = json.loads(file.read_text())

    def filled(text, given):
        for name, value in given.items():
            text = re.sub(r"\b%s\b" % name, value, text) if name != "#parameters" else re.sub(r"(def \w+\(.*)\):", r"\1, %s):" % value, text)
        return text
    for pair in pairs:
        for side in ("before", "after"):
            if pair["test"] in values and side in pair:
                pair[side]["text"] = filled(pair[side]["text"], values[pair["test"]])
                pair["filled"] = True
    return pairs


def short(e):
    return re.sub(r"\s+", " ", str(e).split("\n")[0])[:250]


def verdict(suite, pair):
    try:
        return suite.judged(pair)
    except Reason as e:
        return str(e)


def key(pair, seen):
    """The test, and which of its pairs."""
    seen[pair["test"]] += 1
    return "%s #%d" % (pair["test"], seen[pair["test"]])


def table(suite, pairs):
    seen = collections.Counter()
    return [(pair, key(pair, seen), verdict(suite, pair)) for pair in pairs]


def reason(suite, v):
    for part, words in suite.reasons:
        if part in v:
            return words or v
    return v


def page(suite, rows):
    """DIFFERENCES.md."""
    count = collections.Counter(v for _, _, v in rows if v in suite.good)
    title, sentence = suite.page(len(rows), count)
    filled = sum("filled" in pair for pair, _, _ in rows)
    if filled:
        sentence += " The values of the tests' parameters in %d pairs are not in them, but in `values.json`, which `--values` reads." % filled
    out = [title, "", sentence, "", "| pairs | reason | %s |" % suite.of.__doc__, "|---|---|---|"]
    groups = collections.defaultdict(list)
    for pair, _, v in rows:
        if v not in suite.good:
            groups[reason(suite, v)].append(pair)
    for words, pairs in sorted(groups.items(), key=lambda g: -len(g[1])):
        names = collections.Counter(suite.of(p) for p in pairs)
        out.append("| %d | %s | %s |" % (len(pairs), words, ", ".join("`%s` %d" % n for n in names.most_common(5))))
    return "\n".join(out) + "\n"


def selection(suite, rows, most):
    """The pairs that are good, the shorter ones first, up to so many bytes."""
    kept, size = [], 0
    for pair, _, v in sorted(rows, key=lambda r: len(json.dumps(r[0]))):
        line = json.dumps(pair)
        if v in suite.good and "filled" not in pair and size + len(line) < most:
            kept.append((pair, v))
            size += len(line) + 1
    return kept


def write(kept, pairs, expected):
    seen = collections.Counter()
    pairs.write_text("".join(json.dumps(pair) + "\n" for pair, _ in kept))
    expected.write_text("".join("%s %s\n" % (v, key(pair, seen)) for pair, v in kept))


def keep(suite, rows, folder):
    """The short ones for the usual tests, the others for those of the suite long."""
    folder.mkdir(exist_ok=True)
    kept, all_ = selection(suite, rows, suite.short), selection(suite, rows, suite.long)
    usual = {id(pair) for pair, _ in kept}
    write(kept, folder / "pairs.jsonl", folder / "expected.txt")
    write([k for k in all_ if id(k[0]) not in usual], folder / "long.jsonl", folder / "expected_long.txt")
    (folder / "DIFFERENCES.md").write_text(page(suite, rows))


def compare(suite, rows, file, only):
    """How many pairs are worse than the file says, or are not there any more: each line is a verdict and a test."""
    expected = dict(reversed(line.split(" ", 1)) for line in file.read_text().splitlines())
    last = suite.good[-1]
    worse = [(name, v) for _, name, v in rows
             if v not in suite.good or suite.good.index(v) > suite.good.index(expected.get(name, last))]
    for name, v in worse:
        print("%s: %s, not %s" % (name, v, expected.get(name)))
    missing = [name for name in expected.keys() - {name for _, name, _ in rows} if only in name.rpartition(" #")[0]]
    for name in sorted(missing):
        print("%s: %s is expected, and the pair is not there" % (name, expected[name]))
    return len(worse) + len(missing)


def main(suite):
    p = argparse.ArgumentParser()
    p.add_argument("file", type=pathlib.Path)
    p.add_argument("--expect", type=pathlib.Path, help="fail where a pair is worse than this file says")
    p.add_argument("--keep", type=pathlib.Path, help="write the pairs that are good, what is expected of them, and the page")
    p.add_argument("--show", help="the programs of pairs whose verdict or test has this in it")
    p.add_argument("--only", default="", help="look only at pairs whose test has this in it")
    p.add_argument("--values", type=pathlib.Path, help="values of names that the pairs leave open")
    p.add_argument("--list", action="store_true", help="a verdict a line")
    o = p.parse_args()
    pairs = [json.loads(line) for line in o.file.read_text().splitlines()]
    pairs = with_values(pairs, o.values) if o.values else pairs
    rows = table(suite, [pair for pair in pairs if o.only in pair["test"]])
    for pair, name, v in rows:
        if o.show and (o.show in v or o.show in name):
            print("=" * 100, pair["test"], pair["passes"], v, sep="\n")
            suite.show(pair)
        if o.list:
            print(v, "|", name)
    count = collections.Counter(v for _, _, v in rows)
    if not (o.show or o.list or o.expect):
        for v, n in count.most_common():
            print("%5d  %s" % (n, v))
    if o.keep:
        keep(suite, rows, o.keep)
    print("%d of %d are as they should be" % (sum(count[g] for g in suite.good), len(rows)))
    return 1 if o.expect and compare(suite, rows, o.expect, o.only) else 0
