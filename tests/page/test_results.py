#!/usr/bin/env python3
"""The page of results that examples/studies/results.py makes, of tiny sizes: test_results.py TIRC SOURCE_ROOT

llama.cpp is a script here that says what llama-bench would. What is measured is nobody's business; that what was measured
stands on the page is: each ratio, each loss and nothing else as a loss, and what is absent. Exit status 77, skipped: there is no
numpy, which the scripts that write networks and weights need."""
import importlib.util
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

TIRC, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
BENCH = """#!/bin/sh
echo '[{"n_prompt": 5, "n_gen": 0, "avg_ts": 1e12}, {"n_prompt": 0, "n_gen": 8, "avg_ts": 1e-3}]'
"""
TINY = ["rows=[4]", "kernels=[('qkv', 16, 16)]", "turns=5", "time=0.001", "count=1"]


def make(folder, *more, **env):
    words = [sys.executable, ROOT / "examples/studies/results.py", "--tirc", TIRC, "--quick", "--write", folder, "--decoder", ROOT / "examples/models/gpt2_small.tir",
             "--prompt", "5", "--tokens", "8", *[w for t in TINY for w in ("-D", t)], *more]
    done = subprocess.run(words, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "results.md").read_text()


def part(page, heading):
    return page.split("\n## %s\n" % heading)[1].split("\n## ")[0]


def rows(text):
    return [[c.strip() for c in line.strip("|").split(" | ")] for line in text.split("\n") if line.startswith("| ") and not line.startswith("|---")][1:]


def check_losses(folder, page):
    """What is lost stands in the reports: each ratio below 1."""
    report = json.loads((folder / "results/report.json").read_text())
    lost = [r for t in report["tables"] if t["by"] == "setting" for r in t["rows"] if r["setting"] and r["ratio"] and r["ratio"] < 1]
    surely = [r for r in lost if r["interval"][1] is not None and r["interval"][1] < 1]
    shown = rows(part(page, "Losses"))
    of_setting = [s for s in shown if s[0].startswith("`qkv M=4 K=16 N=16`: `auto`")]
    assert len(of_setting) == len(lost) and len([s for s in of_setting if s[3] == "yes"]) == len(surely), (shown, lost)
    ratios = [float(s[2].split()[0]) for s in shown]
    assert ratios == sorted(ratios) and all(r <= 1 for r in ratios), shown
    assert "decoder, `f32`: prompt, ms" in [s[0] for s in shown], shown  # the script's prompt took no time at all
    assert "decoder, `f32`: decode, tokens/s" not in [s[0] for s in shown], shown


def main():
    if not importlib.util.find_spec("numpy"):
        print("skipped: %s has no numpy" % sys.executable)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        bench, folder = place / "llama-bench", place / "page"
        bench.write_text(BENCH)
        bench.chmod(bench.stat().st_mode | stat.S_IEXEC)
        (folder / "decoder").mkdir(parents=True)
        (folder / "decoder/f32.gguf").write_text("weights")
        page = make(folder, "--only", "products,decoder", TIRC_LLAMA_BENCH=str(bench))
        assert re.search(r"\| `rule_based` \| .* \| 132.61 \| ", page) and re.search(r"\| `f32` \| decode, tokens/s \| [\d.]+ \| 0.001 \|", page), page
        assert "qkv" in part(page, "BERT's products, OpenBLAS, oneDNN, and a published study of TVM")
        check_losses(folder, page)
        page = make(place / "other", "--only", "networks,decoder", "--networks", "small_residual", TIRC_ONNXRUNTIME="/nowhere/libonnxruntime.so",
                    TIRC_LLAMA_BENCH="", PATH="/usr/bin:/bin")
        absent = part(page, "What is absent")
        assert "`small_residual` on 1 thread" in absent, page
        assert "llama.cpp: neither llama-bench" in absent, page
        assert "no ratio is below 1" in part(page, "Losses"), page
        made = subprocess.run([sys.executable, ROOT / "tests/networks/structures.py", "mobilenet_v2", place / "mobile"], capture_output=True, text=True)
        shapes = subprocess.run([TIRC, "shapes", place / "mobile/model.onnx", "-o", place / "mobile.suite"], capture_output=True, text=True)
        assert made.returncode == shapes.returncode == 0 and re.search(r"^\d+ functions, \d+ calls a run$", shapes.stdout, re.M), made.stderr + shapes.stderr
        lines = (place / "mobile.suite").read_text().split("\n")[1:-1]
        assert lines and all((place / line.split()[2]).exists() for line in lines), lines
        refused = subprocess.run([sys.executable, ROOT / "examples/studies/results.py", "--tirc", TIRC, "-D", "oops=1"], capture_output=True, text=True)
        assert refused.returncode == 2 and "neither study has such a line" in refused.stderr, refused.stderr
    print("ok")


main()
