"""The scripts of examples/python run to their ends, and so does the notebook."""

import importlib.util
import json
import linecache
import subprocess
import sys

import pytest

from support import EXAMPLES

SCRIPTS = {"block_builder.py": "5 rows of 16 shares are right", "dlight_gpu.py": "half: 5 blocks of threads, the numbers are right",
           "end_to_end.py": "it looks like a ", "gemm_te.py": "the product is right", "graph.py": "5 rows of 10 scores are right",
           "matmul_cuda.py": "a kernel for 64 x 64 x 64", "onnx_model.py": "3 rows of 8 numbers are right", "optimize_gemm.py": "threads",
           "tensorir.py": "ms scheduled", "today.py": "the sums are right", "tune.py": "the best of 3 is right"}
ARGUMENTS = {"tune.py": ["3"], "matmul_cuda.py": ["64", "2"], "optimize_gemm.py": ["64"]}
NOTEBOOK = EXAMPLES / "python" / "tutorial.ipynb"


def test_all_are_known():
    assert sorted(p.name for p in (EXAMPLES / "python").glob("*.py")) == sorted(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name):
    if name == "onnx_model.py" and not (importlib.util.find_spec("onnx") and importlib.util.find_spec("onnx").origin):
        pytest.skip("there is no package onnx")
    run = subprocess.run([sys.executable, "-B", str(EXAMPLES / "python" / name)] + ARGUMENTS.get(name, []), capture_output=True, text=True,
                         timeout=240)
    assert run.returncode == 0, run.stderr
    assert SCRIPTS[name] in run.stdout


# 0.20's words, and those of the releases since 0.24
TODAY = {'T.block("': 'T.sblock("', "get_block": "get_sblock", "T.alloc_buffer": "T.sblock_alloc_buffer", "tvm.tir.Schedule": "tvm.s_tir.Schedule",
         "tirc.script import tir as T": "tirc.script import tirx as T", "@T.prim_func\n": "@T.prim_func(s_tir=True)\n", "tvm.nd.": "tvm.runtime.",
         "runtime.array": "runtime.tensor", "tvm.build": "tvm.compile", "from tirc import meta_schedule": "from tirc.s_tir import meta_schedule",
         "from tirc import dlight": "from tirc.s_tir import dlight", "out_sinfo": "out_ty", "tir.noalias": "tirx.noalias"}


@pytest.mark.parametrize("name", ["dlight_gpu.py", "end_to_end.py", "matmul_cuda.py", "tensorir.py"])
def test_script_in_words_of_today(name, tmp_path):
    text = (EXAMPLES / "python" / name).read_text()
    for old, new in TODAY.items():
        text = text.replace(old, new)
    (tmp_path / name).write_text(text)
    run = subprocess.run([sys.executable, "-B", str(tmp_path / name)] + ARGUMENTS.get(name, []), capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    assert SCRIPTS[name] in run.stdout


def test_cells_of_the_notebook(capsys):
    """Without a notebook: each cell, and what its last line would be shown as."""
    space, shown = {"__name__": "notebook"}, []
    cells = ["".join(c["source"]) for c in json.loads(NOTEBOOK.read_text())["cells"] if c["cell_type"] == "code"]
    for i, cell in enumerate(cells):
        name = "<cell %d>" % i
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile(cell, name, "exec"), space)
        last = cell.strip().splitlines()[-1]
        if not last.startswith((" ", ")")) and "=" not in last.partition("(")[0]:
            value = eval(last, space)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else value)
    assert "ScheduleError" in capsys.readouterr().out or len(shown) >= 4
    assert any("<svg" in str(s) for s in shown) and any("<details>" in str(s) for s in shown) and any("95 % interval" in str(s) for s in shown)


def test_notebook():
    nbclient = pytest.importorskip("nbclient", reason="there is no jupyter here: its cells ran without it")
    import nbformat
    nbclient.NotebookClient(nbformat.read(NOTEBOOK, 4), timeout=120).execute()
