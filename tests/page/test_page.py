#!/usr/bin/env python3
"""The page of `tirc step --html` in a headless Chromium: test_page.py TIRC SOURCE_ROOT

Exit status 77 (skipped) where no browser is installed."""
import base64
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Missing  # noqa: E402
from pages import ROOT, make_page  # noqa: E402

MATMUL = ROOT + "/examples/matmul/matmul.tir"
RULE_BASED = ROOT + "/examples/matmul/rule_based.sch"
SMALL = ROOT + "/tests/cli/small.tir"


# --- the trace, read without the page's own code ---

def unpack(trace):
    data, at, accesses, starts = base64.b64decode(trace["data"]), 0, [], []
    last = [0] * len(trace["arrays"])

    def number():
        nonlocal at
        v = shift = 0
        while True:
            byte = data[at]
            at += 1
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v

    def signed():
        v = number()
        return v >> 1 if v % 2 == 0 else -(v + 1 >> 1)

    stands = [[0] * len(b["loops"]) for b in trace["blocks"]]
    while at < len(data):
        tag = number()
        if tag == 0:
            block = number()
            same = number()
            for k in range(same, len(stands[block])):
                stands[block][k] = signed()
            starts.append((len(accesses), block, tuple(stands[block])))
        else:
            array = (tag - 1) // 2
            last[array] += signed()
            accesses.append((array, last[array], (tag - 1) % 2))
    return accesses, starts


def count_misses(trace, accesses, size, line, ways):
    bases, base = [], 0
    for a in trace["arrays"]:
        bases.append(base)
        count = a["bytes"]
        for extent in a["shape"]:
            count *= extent
        base += -(-count // 64) * 64
    ways = min(ways, size // line)
    sets, missed = [[] for _ in range(size // line // ways)], 0
    for array, element, _ in accesses:
        number = (bases[array] + element * trace["arrays"][array]["bytes"]) // line
        content = sets[number % len(sets)]
        if number in content:
            content.remove(number)
        else:
            missed += 1
            if len(content) == ways:
                content.pop(0)
        content.append(number)
    return missed


def check_trace_of_known_program(folder):
    _, _, data = make_page(folder, SMALL, ROOT + "/tests/cli/good.sch", "--instance", "M=3")
    run = data["run"]
    assert run["setting"] == "M = 3", run["setting"]
    names = [a["name"] for a in run["traces"][0]["arrays"]]
    for trace, order in ((run["traces"][run["traceOf"][0]], "ijk"), (run["traces"][run["traceOf"][5]], "ikj")):
        assert trace["whole"]
        expected = []
        for i in range(3):
            for x in range(16 if order == "ijk" else 8):
                for y in range(8 if order == "ijk" else 16):
                    j, k = (x, y) if order == "ijk" else (y, x)
                    c = ("C", i * 16 + j)
                    expected += [(*c, 1)] if k == 0 else []
                    expected += [(*c, 0), ("A", i * 8 + k, 0), ("B", k * 16 + j, 0), (*c, 1)]
        accesses, starts = unpack(trace)
        names = [a["name"] for a in trace["arrays"]]
        assert [(names[a], e, w) for a, e, w in accesses] == expected, order
        assert trace["blocks"] == [{"name": "root", "loops": []}, {"name": "C", "loops": list(order)}], trace["blocks"]
        assert len(starts) == 1 + 3 * 16 * 8 and starts[-1][2] == ((2, 15, 7) if order == "ijk" else (2, 7, 15))


def check_misses_of_lesson(folder):
    """The figures that the lesson on cache_write states."""
    lesson = ROOT + "/examples/lessons/07-cache-write/"
    small = [w for n in ("M=8", "N=64", "K=8", "TILE=8") for w in ("--instance", n)]
    _, _, data = make_page(folder, lesson + "program.tir", lesson + "solution.sch", *small)
    run, stated = data["run"], open(lesson + "README.md", encoding="utf-8").read()
    found = [(step["primitive"], run["traces"][run["traceOf"][i]]) for i, step in enumerate(data["steps"], 1)]
    figures = {name: (count_misses(t, unpack(t)[0], 1024, 64, 4), t["accesses"]) for name, t in found}
    before, cached, moved = (figures[n] for n in ("reorder", "cache_write", "reverse_compute_at"))
    for text in (f"{before[0]} of {before[1]:,} accesses miss", f"after it {cached[0]}", f"`reverse_compute_at` {moved[0]}"):
        assert text in stated, text


# --- the page ---

def shown_program(b):
    return b.run("return [...document.querySelectorAll('#program .l:not(.del)')].map(e => e.textContent).join('\\n')")


def check_steps(b, data):
    lines = data["script"].split("\n")
    for number, step in enumerate(data["steps"], 1):
        b.press("ArrowRight")
        assert b.run("document.getElementById('count').value") == "%d / %d" % (number, len(data["steps"]))
        assert b.text("#sentence") == step["sentence"]
        assert b.text("#call") == step["call"]
        lit = b.run("return [...document.querySelectorAll('#script .lit')].map(e => e.textContent)")
        assert lit == [lines[step["line"] - 1]], lit
        text = [line or " " for line in data["programs"][step["after"]]["text"].rstrip("\n").split("\n")]
        assert shown_program(b).split("\n") == text, number
        changed = b.run("document.querySelectorAll('#program .add, #program .del').length")
        assert changed == sum(d[0] in "+-" for d in step.get("diff", [])), number
        tree = [n["name"] for n in data["programs"][step["after"]]["tree"] if n["name"] != "root"]
        assert b.run("return [...document.querySelectorAll('#tree [data-name]')].map(e => e.dataset.name)") == tree


def check_controls(b, data):
    n = len(data["steps"])
    b.press("Home")
    assert b.run("document.getElementById('previous').disabled") and b.text("#change") == "before the first call"
    b.press("End")
    assert b.run("document.getElementById('next').disabled")
    b.click("#previous")
    b.press("ArrowLeft")
    assert b.run("Number(document.getElementById('slider').value)") == n - 2
    b.run("const s = document.getElementById('slider'); s.value = 4; s.dispatchEvent(new Event('input')); return 1")
    assert b.text("#sentence") == data["steps"][3]["sentence"]
    b.run("document.getElementById('slider').focus(); return 1")
    b.press("ArrowRight")  # the slider's own key, not twice
    assert b.text("#sentence") == data["steps"][4]["sentence"]
    line = data["steps"][8]["line"]
    here = next(s for s in data["steps"][5:] if s["line"] == line)  # a line of a function has several
    b.click("#script li:nth-child(%d) button" % line)
    assert b.text("#sentence") == here["sentence"]
    b.wait("document.querySelectorAll('#chart button').length === %d" % (n + 1))
    b.click("#chart button:nth-child(4)")
    assert b.text("#sentence") == data["steps"][2]["sentence"]


def check_run(b, data):
    run = data["run"]
    b.press("End")
    trace = run["traces"][run["traceOf"][-1]]
    accesses, _ = unpack(trace)
    b.run("showTime(0); return 1")
    b.press(".", ".", ".", ",")
    assert b.run("document.getElementById('when').value") == "2 / %d" % len(accesses)
    array = trace["arrays"][accesses[1][0]]
    assert ("writes " if accesses[1][2] else "reads ") + array["name"] in b.text("#access"), b.text("#access")
    assert b.run("document.querySelectorAll('#tree .active').length") == 1
    b.run("document.activeElement.blur(); document.getElementById('speed').value = '400'; return 1")
    b.press("Space")
    b.wait("state.time > 20")
    b.press("Space")
    stopped = b.run("state.time")
    assert b.run("state.playing") is False and b.run("state.time") == stopped
    assert b.run("const c = document.querySelector('#arrays canvas'); const d = c.getContext('2d')"
                 ".getImageData(0, 0, c.width, c.height).data; return d.some(v => v)")
    for size, line, ways in ((512, 64, 4), (1024, 16, 1), (4096, 128, 16)):
        b.run("for (const [id, v] of Object.entries(arguments[0])) document.getElementById(id).value = v;"
              "document.getElementById('ways').onchange(); showTime(1e9); return 1",
              {"size": size, "line": line, "ways": ways})
        total = [int(n) for n in re.findall(r"\d+", b.text("#total"))]
        expected = count_misses(trace, accesses, size, line, ways)
        assert total == [len(accesses) - expected, expected], (total, expected)


def check_names(b):
    nameless = b.run("""
      return [...document.querySelectorAll('button, input, select, canvas, svg, [tabindex]')].filter(e =>
        !e.textContent.trim() && !e.getAttribute('aria-label') && !e.title && !(e.labels && e.labels.length)).length""")
    assert nameless == 0, nameless


def background(b):
    return b.run("getComputedStyle(document.body).backgroundColor")


def check_desktop(path, data):
    b = Browser()
    try:
        b.open(path)
        assert b.text("#title") == "matmul.tir — rule_based.sch"
        check_steps(b, data)
        check_controls(b, data)
        check_run(b, data)
        check_names(b)
        check_address(b, path, data)
        light = background(b)
        b.click("#theme")
        assert background(b) != light and b.text("#theme") == "Light"
        b.press("t")
        assert background(b) == light
        b.assert_quiet()
    finally:
        b.close()
    return light


def check_widths(paths):
    """All that is set stands in its panel."""
    for width in (1100, 1280, 1366, 1920):
        b = Browser(width, 800)
        try:
            for path in paths:
                b.open(path)
                outside = b.run("""
                  return [...document.querySelectorAll('.panel select, .panel button, .panel input')].filter(e => {
                    const own = e.getBoundingClientRect(), panel = e.closest('.panel').getBoundingClientRect();
                    return own.width && (own.right > panel.right || own.left < panel.left);
                  }).map(e => e.id)""")
                assert not outside, (width, path, outside)
        finally:
            b.close()


def check_address(b, path, data):
    """A call is where the page's address ends with its number: opened, gone to, and shown."""
    address = "return location.hash"
    b.open(path + "#3")
    assert b.text("#sentence") == data["steps"][2]["sentence"]
    b.press("ArrowRight")
    assert b.run(address) == "#4"
    b.run("location.hash = '#6'; return 1")
    b.wait("state.step === 6")
    assert b.text("#sentence") == data["steps"][5]["sentence"]
    for wrong, step in (("#999", len(data["steps"])), ("#none", 0), ("#-1", 0)):
        b.run("location.hash = arguments[0]; return 1", wrong)
        b.wait("state.step === %d" % step)


def check_phone(path, light):
    b = Browser(390, 844, 2, dark=True)
    try:
        b.open(path + "#9")
        assert background(b) != light
        assert b.run("state.step") == 9
        assert b.run("document.documentElement.scrollWidth") <= 390
        small = b.run("return [...document.querySelectorAll('.controls button')].filter(e => e.offsetHeight < 32).length")
        assert small == 0, small
        b.assert_quiet()
    finally:
        b.close()


def touched_by_threads(trace, bound, array, block):
    """{element: its threads} of one block, where `bound` has the loops of each axis of each block of the program."""
    accesses, starts = unpack(trace)
    found = {}
    for i, (at, number, values) in enumerate(starts):
        place = dict(zip(trace["blocks"][number]["loops"], values))
        axes = {axis: place[loop] for axis, loop in bound.get(trace["blocks"][number]["name"], {}).items()}
        if not axes or (axes["blockIdx.x"], axes["blockIdx.y"]) != block:
            continue
        end = starts[i + 1][0] if i + 1 < len(starts) else len(accesses)
        for a, element, _ in accesses[at:end]:
            if trace["arrays"][a]["name"] == array:
                found.setdefault(element, []).append((axes["threadIdx.x"], axes["threadIdx.y"]))
    return found


# Of each element of the array that is shown: the colour near its corner, and the one in its middle.
COLOURS = """
  const v = views[touches.array], ratio = window.devicePixelRatio;
  const d = v.canvas.getContext('2d');
  return [...Array(v.array.count).keys()].map(i => {
    const [x, y] = v.place(i), at = (dx, dy) => d.getImageData((x + dx) * ratio, (y + dy) * ratio, 1, 1).data.slice(0, 3).join();
    return [at(1, 1), at(v.w / 2, v.h / 2)];
  })"""
CHOOSE = """
  for (const [id, value] of [['of', arguments[0]], ['in', arguments[1]]]) {
    const e = document.getElementById(id);
    e.selectedIndex = [...e.options].findIndex(o => o.textContent === value);
    e.onchange();
  }
  return 1"""


def check_threads(folder):
    """The elements of an array in the colours of the threads of one block."""
    path, _, data = make_page(folder, ROOT + "/tests/page/threads.tir", ROOT + "/tests/page/threads.sch", name="threads")
    trace = data["run"]["traces"][data["run"]["traceOf"][-1]]
    copy = {"blockIdx.y": "i_0", "blockIdx.x": "j_0", "threadIdx.y": "ax0_ax1_fused_1", "threadIdx.x": "ax0_ax1_fused_2"}
    own = {**copy, "threadIdx.y": "i_1", "threadIdx.x": "j_1"}
    bound = {"A_shared": copy, "C": own, "C_local": own}
    b = Browser()
    try:
        b.open(path)
        assert b.run("document.getElementById('in').disabled") and "No loop is bound" in b.text("#who")
        b.press("End")
        assert len(b.run("return [...document.querySelectorAll('#in option')].map(e => e.textContent)")) == 4
        for array, block in (("A", (0, 0)), ("A", (1, 1)), ("B", (1, 0)), ("C", (0, 1)), ("A_shared", (1, 0)), ("C_local", (1, 1))):
            b.run(CHOOSE, array, "block x = %d, y = %d" % block)
            expected = touched_by_threads(trace, bound, array, block)
            colours, seen = b.run(COLOURS), {}
            empty = {c for i, pair in enumerate(colours) if i not in expected for c in pair}
            assert len(empty) <= 1, (array, empty)
            for i, by in expected.items():
                for thread, colour in ((by[0], colours[i][0]), (list(dict.fromkeys(by))[-1], colours[i][1])):
                    assert seen.setdefault(thread, colour) == colour and colour not in empty, (array, i, thread, colour)
            assert len(set(seen.values())) == len(seen), array  # no two threads look the same
            several = sum(len(set(by)) > 1 for by in expected.values())
            said = b.text("#who")
            assert said.startswith("%d threads of 32, " % len({t for by in expected.values() for t in by})), (array, said)
            assert ("%d of several" % several in said) == (several > 0 and array != "C_local"), (array, several, said)
        b.run(CHOOSE, "A_shared", "block x = 0, y = 0")
        b.hover('figure[data-array="A_shared"] canvas')
        row, column = map(int, re.match(r"A_shared\[(\d), (\d)\]", b.text("#tip")).groups())
        writer = ["thread (x = %d, y = %d) writes it" % (column % 4, (row * 8 + column) // 4 % 8)]
        readers = ["thread (x = %d, y = %d) reads it" % (x, row) for x in range(4)]
        assert b.text("#tip").split("\n")[1:] == writer + readers, b.text("#tip")
        b.run("showTime(700); return 1")
        assert b.text("#where").endswith("thread (x = 0, y = 2) of block (x = 0, y = 0)"), b.text("#where")
        b.run("document.activeElement.blur(); return 1")
        b.press("Home")  # before the first call, the array is not there
        assert "No loop is bound" in b.text("#who")
        assert [m for m in b.log() if "willReadFrequently" not in m] == []
    finally:
        b.close()
    return path


# Of each element of the array that touches something: which items; and the links that are drawn.
ON_ARRAY = """
  document.getElementById('items').value = arguments[0];
  document.getElementById('stamp').value = arguments[1];
  document.getElementById('stamp').oninput();
  const of = e => e.dataset.items.split(' ').filter(x => x).map(Number).sort((a, b) => a - b);
  return [[...document.querySelectorAll('#elements .pe')].map(e => [e.dataset.pe, of(e)]).filter(e => e[1].length),
          [...document.querySelectorAll('#elements .link.before')].map(e => e.dataset.link).sort()]"""


def check_array(folder, links=None):
    """Which element of an array touches what, at each stamp of a mapping with a skew, and who handed it on: by any
    step along an axis, or by the links of an array alone."""
    example = ROOT + "/examples/dataflow/"
    given = []
    if links is not None:
        spec = os.path.join(folder, "links.json")
        with open(spec, "w", encoding="utf-8") as f:
            json.dump({"array": {"dims": [8, 8], "bandwidth": 64, "item_bits": 16, "latency": 16},
                       "interconnect": {"deltas": links}}, f)
        given = ["--array", spec]
    path, _, data = make_page(folder, example + "matmul.tir", example + "output_stationary.sch", *given,
                              name="array" if links is None else "linked")
    trace = data["run"]["traces"][data["run"]["traceOf"][-1]]
    accesses, starts = unpack(trace)
    stamps = {}
    for i, (at, number, values) in enumerate(starts):
        loop = dict(zip(trace["blocks"][number]["loops"], values))
        if "i_1" not in loop:  # the root block
            continue
        pe, end = (loop["i_1"], loop["j_1"]), starts[i + 1][0] if i + 1 < len(starts) else len(accesses)
        held = stamps.setdefault((loop["i_0"], loop["j_0"], loop["k"] + sum(pe)), {}).setdefault(pe, {})
        for a, element, _ in accesses[at:end]:
            held.setdefault(trace["arrays"][a]["name"], set()).add(element)
    order = sorted(stamps)
    b = Browser()
    try:
        b.open(path)
        assert not b.run("document.getElementById('pes').hidden")
        assert "No loop is bound to an array" in b.text("#handed")
        b.press("End")
        assert b.run("document.getElementById('stamp').max") == str(len(order) - 1)
        for k in (0, 1, 5, len(order) // 2, len(order) - 1):
            for array, step in (("A", (0, -1)), ("B", (-1, 0)), ("C", None)):
                now, before = stamps[order[k]], stamps[order[k - 1]] if k else {}
                shown, drawn = b.run(ON_ARRAY, array, k)
                expected = {"%d,%d,0" % pe: sorted(held[array]) for pe, held in now.items()}
                assert dict(map(tuple, shown)) == expected, (array, k, shown, expected)
                if step is None:
                    continue
                handed = ["%d,%d,0>%d,%d,0" % (pe[0] + step[0], pe[1] + step[1], *pe) for pe, held in now.items()
                          if (links is None or list(step) in links) and held[array] & before.get((pe[0] + step[0], pe[1] + step[1]), {}).get(array, set())]
                assert drawn == sorted(handed), (array, k, drawn, handed)
        assert [m for m in b.log() if "willReadFrequently" not in m] == []
    finally:
        b.close()
    return path


def check_failure(folder):
    example = ROOT + "/examples/decompose_reduction/"
    path, _, data = make_page(folder, example + "matmul.tir", example + "early.sch", status=1)
    b = Browser()
    try:
        b.open(path)
        assert b.run("document.getElementById('error').hidden")
        b.press("End")
        assert not b.run("document.getElementById('error').hidden")
        error = data["steps"][-1]["error"]
        for part in (error["code"], error["message"], error["condition"], error["hint"]):
            assert part in b.text("#error"), part
        assert b.run("document.querySelectorAll('#script .lit.refused').length") == 1
        assert b.run("document.querySelectorAll('#program .caret').length") == 2
        b.assert_quiet()
    finally:
        b.close()


def check_flame(folder):
    """The time of the scheduled program: a bar for each part with a probe, within the page, reached by the keyboard."""
    path, _, data = make_page(folder, ROOT + "/tests/cli/two_nests.tir", ROOT + "/tests/cli/split_i.sch", "--profile=blocks",
                              "--for-threads", "1", name="flame")
    parts = data["profile"]["parts"]
    timed = [p for p in parts if p["timed"]]
    assert len(timed) >= 3 and timed[0]["kind"] == "function" and timed[0]["parent"] == -1, parts
    for width, height in ((390, 844), (1366, 768)):
        b = Browser(width, height)
        try:
            b.open(path)
            assert b.run("document.documentElement.scrollWidth") <= width
            bars = b.run("""
              const all = document.getElementById('flame').getBoundingClientRect();
              return [...document.querySelectorAll('#flame button')].map(e => {
                const own = e.getBoundingClientRect();
                return { left: own.left - all.left, right: own.right - all.right, top: own.top, width: own.width, text: e.textContent,
                         label: e.getAttribute('aria-label') };
              })""")
            assert len(bars) == len(timed), (bars, timed)
            assert all(bar["left"] > -1 and bar["right"] < 4 and bar["width"] >= 3 for bar in bars), bars
            assert bars[0]["text"] == "main" and "% of the call" in bars[0]["label"], bars[0]
            whole = timed[0]["seconds"]  # parts that seem to take longer than what they are in share its width
            for bar, part in zip(bars, timed):
                assert bar["width"] < max(3, bars[0]["width"] * part["seconds"] / whole) + 5, (bar, part)
            b.run("document.querySelectorAll('#flame button')[1].focus(); return 1")
            assert b.text("#flame-part") == bars[1]["label"]
            b.assert_quiet()
        finally:
            b.close()


def check_traffic(folder):
    """What kernels ask of a GPU's memory: beside the statements of the scheduled program, and of no other; a row for each kernel."""
    path, _, data = make_page(folder, ROOT + "/tests/page/threads.tir", ROOT + "/tests/page/threads.sch", "--report", "--target", "sm_80",
                              name="traffic")
    last = data["programs"][data["steps"][-1]["after"]]["text"].split("\n")
    at = next(i + 1 for i, line in enumerate(last) if "A_shared[" in line and "= A[" in line)
    loads = next(a for a in data["report"]["accesses"] if a["line"] == at and a["buffer"] == "A")
    for width, height in ((390, 844), (1366, 768)):
        b = Browser(width, height)
        try:
            b.open(path)
            assert b.run("return document.querySelectorAll('.traffic').length") == 0
            b.run("show(data.steps.length); return 1")
            text = b.run("return [...document.querySelectorAll('#program [data-line=\"%d\"] .traffic')].map(e => e.textContent)" % at)
            assert text[0].startswith("load A: %d sectors" % (loads["asked"] // loads["warps"])), (text, loads)
            b.run("data.report.accesses.push({ ...data.report.accesses[0], line: 0 }); show(0); show(data.steps.length); return 1")
            assert b.run("return [document.querySelectorAll('.traffic').length > 0, document.querySelectorAll('#program .del').length > 0,"
                         " document.querySelectorAll('.traffic').length - document.querySelectorAll('[data-line] .traffic').length]") == [True, True, 0]
            assert b.run("return document.querySelectorAll('#traffic tbody tr').length") == len(data["report"]["kernels"]) == 1
            assert "warps" in b.text("#traffic") and "no caches" in b.text("#traffic-model")
            assert b.run("document.documentElement.scrollWidth") <= width
            b.assert_quiet()
        finally:
            b.close()


def check_large_nest(folder):
    """Of a nest that is too large to draw, what changed is drawn, with the loop around it; and Tab stops at a term that only the
    end of the program has."""
    path = os.path.join(folder, "nest")
    with open(path + ".tir", "w") as f:
        f.write('@T.prim_func\ndef main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):\n    for i in range(8):\n' + "".join(
            '        with T.block("B_%d"):\n            vi = T.axis.spatial(8, i)\n            B[vi] = A[vi] + T.float32(%d)\n' % (n, n) for n in range(600)).replace(
                '        with T.block("B_550"):', '        for j in range(2):\n          with T.block("B_550"):')
            + '        for k in range(8):\n            with T.block("sum"):\n                vi, vk = T.axis.remap("SR", [i, k])\n'
            '                B[vi] = B[vi] + A[vk]\n')
    with open(path + ".sch", "w") as f:
        f.write('sch.unroll(sch.get_loops("B_550")[1])\n')
    b = Browser(1366, 768)
    try:
        b.open(make_page(folder, path + ".tir", path + ".sch", name="nest")[0])
        b.run("show(data.steps.length); return 1")
        fresh = b.run("return [...document.querySelectorAll('#tree .fresh')].map(e => e.parentNode.dataset.name)")
        assert fresh == ["j"], fresh
        drawn = b.run("return [...document.querySelectorAll('#tree [data-line]')].map(e => e.dataset.name)")
        assert drawn.index("i") < drawn.index("B_550") and len(drawn) < 450, drawn
        assert re.match(r"\d+ of 6\d\d loops and blocks are drawn", b.text("#tree .cut")), b.text("#tree .cut")
        b.wait("document.querySelectorAll('#program .l').length > 2400")
        stops = b.run("return [...document.querySelectorAll('#program [data-term][tabindex]')].map(e => e.dataset.term)")
        assert "iterator-kinds" in stops and len(stops) == len(set(stops)), stops
        b.assert_quiet()
    finally:
        b.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, page, data = make_page(folder, MATMUL, RULE_BASED, "-D", "M=16")
        assert len(page) < 2e6, len(page)
        outside = re.findall(r'(?:src|href)\s*=|url\(|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)[^\s"]*', page)
        assert not outside, outside
        assert data["run"]["traces"] and all(t["whole"] for t in data["run"]["traces"])
        light = check_desktop(path, data)
        check_phone(path, light)
        check_widths([path, check_threads(folder), check_array(folder), check_array(folder, [[0, -1]])])
        check_trace_of_known_program(folder)
        check_misses_of_lesson(folder)
        check_failure(folder)
        check_flame(folder)
        check_traffic(folder)
        check_large_nest(folder)
    print("ok")


try:
    main()
except Missing as reason:
    print("skipped:", reason)
    sys.exit(77)
