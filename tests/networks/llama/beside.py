"""The decoder of examples/models beside llama.cpp: beside.py FOLDER [--turns N] [--threads N] [--prompt N] [--tokens N] [--kinds f32,q8_0,q4_0]
[--bench PROGRAM] [--figures FILE] [--page FILE.md]

FOLDER gets the files of weights, and has node_modules with node-llama-cpp (npm i node-llama-cpp @node-llama-cpp/linux-x64 --ignore-scripts),
unless --bench names llama.cpp's own llama-bench. --figures writes the medians as JSON, too; --page replaces the rows
of the table of examples/guide/quantise.md in that page. Each turn runs all contenders one after the other, so that what else the machine does meets
all of them; what is printed are medians of the turns. Shapes are the same, weights are of a seed each: what they cost does not depend on them."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# llama.cpp makes activations integers, too, for both kinds of integers.
WAYS = {"f32": {"tirc": []}, "q8_0": {"tirc": ["--quantize", "int8"], "activations": ["--activations", "int8"]},
        "q4_0": {"tirc": ["--quantize", "int4"], "activations": ["--quantize", "int4", "--activations", "int8"]}}


def run(words, folder=None):
    made = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    if made.returncode:
        sys.exit("%s\n%s%s" % (" ".join(map(str, words)), made.stdout, made.stderr))
    return made.stdout


def run_llama(o, file, numbers):
    if not o.bench:
        return json.loads(run(["node", HERE / "run.mjs", file, *numbers], o.folder).strip().split("\n")[-1])
    told = json.loads(run([o.bench, "-m", file, "-t", numbers[0], "-p", numbers[1], "-n", numbers[2], "-r", "1", "-o", "json"], o.folder))
    rates = {"prompt" if r["n_prompt"] else "decode": r["avg_ts"] for r in told}
    return {"prefill_ms": 1e3 * o.prompt / rates["prompt"], "decode_tokens_per_second": rates["decode"]}


# The rows of the page's table: what is measured, the column of who, the kinds.
PAGE_ROWS = (("decode, tokens/s", "decode_tokens_per_second", lambda v: "%.3g" % v), ("prefill, s", "prefill_ms", lambda v: "%.2g" % (v / 1e3)))
CONTENDERS = (("tirc", "tirc"), ("tirc, `--activations=int8`", "activations"), ("llama.cpp", "llama.cpp"))
FIRST_ROW = "| | | floats | eight bits | four bits |\n|---|---|---|---|---|\n"


def rows_of(medians):
    known = {(m["kind"], m["who"]): m for m in medians}
    for what, key, spelled in PAGE_ROWS:
        for name, who in CONTENDERS:
            cells = [spelled(known[kind, who][key]) if (kind, who) in known else "" for kind in WAYS]
            yield "| %s | %s | %s |\n" % (what if who == "tirc" else "", name, " | ".join(cells))


def write_page(page, medians):
    before, first, after = page.read_text().partition(FIRST_ROW)
    if not first:
        sys.exit("beside.py: %s has no table that begins with %s" % (page, FIRST_ROW.split("\n")[0]))
    old = after[:after.index("\n\n") + 1]
    page.write_text(before + first + "".join(rows_of(medians)).replace("|  |", "| |").replace("|  |", "| |") + after[len(old):])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kinds", default="f32,q8_0,q4_0")
    parser.add_argument("--bench")
    parser.add_argument("--figures", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "examples/models/gpt2.tir")
    for name, usual in (("turns", 3), ("threads", 1), ("prompt", 128), ("tokens", 64)):
        parser.add_argument("--" + name, type=int, default=usual)
    o = parser.parse_args()
    if o.page and set(o.kinds.split(",")) != set(WAYS):
        parser.error("--page replaces the whole table: it needs all kinds")
    kinds, folder = o.kinds.split(","), o.folder.resolve()
    o.folder = folder
    if not o.bench and not (folder / "node_modules/node-llama-cpp").exists():
        sys.exit("beside.py: no node-llama-cpp in %s/node_modules" % folder)
    numbers = [str(n) for n in (o.threads, o.prompt, o.tokens)]
    figures = {(kind, who): [] for kind in kinds for who in ("llama.cpp", *WAYS[kind])}
    for kind in kinds:
        if not (folder / (kind + ".gguf")).exists():
            run([sys.executable, HERE / "gguf.py", folder / (kind + ".gguf"), kind], folder)
    for turn in range(o.turns):
        for kind in kinds:
            figures[kind, "llama.cpp"].append(run_llama(o, folder / (kind + ".gguf"), numbers))
            to = folder / "figures.json"
            for who, how in WAYS[kind].items():
                run([sys.executable, ROOT / "examples/models/gpt2.py", "run", o.model.resolve(), "--threads", numbers[0], "--prompt", numbers[1],
                     "--tokens", numbers[2], "--figures", to, *how])
                figures[kind, who].append(json.loads(to.read_text()))
    print("%-6s %-11s %22s %22s" % ("", "", "prefill of %d, ms" % o.prompt, "decode, tokens/s"))
    medians = []
    for (kind, who), rows in figures.items():
        median = {k: statistics.median(r[k] for r in rows) for k in rows[0]}
        medians.append({"kind": kind, "who": who, "turns": len(rows), **median})
        print("%-6s %-11s %22.4g %22.4g" % (kind, who, median["prefill_ms"], median["decode_tokens_per_second"]))
    if o.figures:
        o.figures.write_text(json.dumps(medians))
    if o.page:
        write_page(o.page, medians)


main()
