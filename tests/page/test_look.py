#!/usr/bin/env python3
"""How the page of `tirc step --html` looks and behaves to a reader, in a headless Chromium: what stands where at
the usual sizes, that nothing jumps, what is explained, and that keyboard, colours and motion exclude nobody.
test_look.py TIRC SOURCE_ROOT

Exit status 77 (skipped) where no browser is installed."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Missing  # noqa: E402
from colours import contrast, distance, parse, seen_by  # noqa: E402
from pages import EXAMPLES, ROOT, explain, make_page, one_line  # noqa: E402

LAPTOP = (1366, 768)
RECTS = """
  return Object.fromEntries([...document.querySelectorAll(arguments[0])].map(e => {
    const r = e.getBoundingClientRect();
    return [e.id || e.dataset.array || e.className, [r.left, r.top, r.width, r.height].map(Math.round)];
  }))"""


def opened(path, size=LAPTOP, **settings):
    b = Browser(*size, **settings)
    b.open(path)
    return b


def example(folder, operator, schedule, *arguments, name="example"):
    return make_page(folder, f"{EXAMPLES}{operator}/{operator}.tir", f"{EXAMPLES}{operator}/{schedule}.sch", *arguments, name=name)


# --- what stands where -----------------------------------------------------------------------

# Lines of the script that stick out of the pane, and short ones that are broken.
CUT_LINES = """
  const pane = document.getElementById('script'), box = pane.getBoundingClientRect();
  if (pane.scrollWidth > pane.clientWidth) return ['the pane scrolls sideways'];
  return [...pane.querySelectorAll('li')].filter(li => {
    const range = document.createRange();
    range.selectNodeContents(li);
    const rects = [...range.getClientRects()].filter(r => r.width);
    const out = rects.some(r => r.right > box.left + pane.clientWidth + 1 || r.left < box.left);
    const broken = li.textContent.length <= 45 && rects.some(r => r.bottom > rects[0].bottom + 4);
    return out || broken || (li.textContent.trim() && !rects.length);
  }).map(li => li.textContent)"""


def check_whole_lines(b, folder):
    for operator, schedules in (("matmul", ("rule_based", "goto", "prepacked", "full", "baseline")),
                                ("conv2d", ("channel_tiles", "parallel_vec")),
                                ("softmax", ("vector_rows", "by_rows")), ("layer_norm", ("vector_rows", "by_rows"))):
        for schedule in schedules:
            path, _, data = example(folder, operator, schedule)
            b.open(path)
            lines = b.run("return [...document.querySelectorAll('#script li')].map(e => e.textContent)")
            assert [line.strip() for line in data["script"].rstrip("\n").split("\n")] \
                == [line.strip() for line in lines[:data["script"].rstrip("\n").count("\n") + 1]], schedule
            cut = b.run(CUT_LINES)
            assert cut == [], (operator, schedule, cut)
            assert data["run"], (operator, schedule)  # also where a script imports another


def check_seen_together(b, path):
    """The program and the animation, without scrolling."""
    b.open(path)
    width, height = b.run("return [innerWidth, innerHeight]")
    assert b.run("return [document.documentElement.scrollHeight <= innerHeight, document.documentElement.scrollWidth <= innerWidth]") \
        == [True, True]
    rects = b.run(RECTS, "#script, #program, #tree, #arrays, #play, #chart")
    least = {"script": (360, 250), "program": (440, 400), "tree": (330, 180), "arrays": (330, 150), "play": (24, 24), "chart": (300, 120)}
    for name, (w, h) in least.items():
        x, y, rw, rh = rects[name]
        assert x >= 0 and y >= 0 and x + rw <= width and y + rh <= height, (name, rects[name])
        assert rw >= w and rh >= h, (name, rects[name])


# Everything that has a place of its own.
PLACES = "main > *, .controls, .controls > *, #sentence, #warnings, #script, #program, #tree, #arrays, #where, #chart, figure, footer"


# Counts of arrays that are cut off, where the pane scrolls or not.
CUT_CAPTIONS = """
  return [...document.querySelectorAll('figure')].filter(f => {
    const c = f.querySelector('figcaption'), box = c.getBoundingClientRect(), r = c.querySelector('span').getBoundingClientRect();
    return r.bottom > box.bottom + 1 || r.right > box.right + 1;
  }).map(f => f.dataset.array)"""


def check_nothing_jumps(b, path, data, step_by=1):
    b.open(path)
    b.wait("document.querySelector('#chart .bar')")
    first = b.run(RECTS, PLACES)
    assert len(first) > 20, first
    for number in range(0, len(data["steps"]) + 1, step_by):
        b.run("show(arguments[0]); return 1", number)
        for time in (0, 1, 700, 10 ** 9):
            rects = b.run("showTime(arguments[1]);" + RECTS, PLACES, time)
            assert rects == first, (number, time, {k: (v, rects.get(k)) for k, v in first.items() if rects.get(k) != v})


def check_other_file(b, path, data):
    """The line of an imported script is lit where it stands."""
    b.open(path)
    for number, step in enumerate(data["steps"], 1):
        if not step["file"].endswith("rows.sch") or step["file"].endswith("vector_rows.sch"):
            continue
        b.run("show(arguments[0]); return 1", number)
        with open(step["file"], encoding="utf-8") as f:
            expected = f.read().split("\n")[step["line"] - 1]
        assert b.run("return [...document.querySelectorAll('#script .lit')].map(e => e.textContent)") == [expected], number
        return
    raise AssertionError("no call stands in another file")


# --- arrays ----------------------------------------------------------------------------------

# Of each array: its accesses so far, and the share of its pixels that differ from an empty one's.
TOUCHED = """
  const g = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const empty = ['panel', 'soft'].map(name => {
    g.fillStyle = style(name);
    g.fillRect(0, 0, 1, 1);
    return g.getImageData(0, 0, 1, 1).data.join();
  });
  return views.map(v => {
    const d = v.canvas.getContext('2d').getImageData(0, 0, v.canvas.width, v.canvas.height).data;
    let n = 0;
    for (let i = 0; i < d.length; i += 4) n += !empty.includes(d.slice(i, i + 4).join());
    return [v.array.name, cache.hits[v.number] + cache.misses[v.number], n / (d.length / 4), v.caption.textContent];
  })"""


def check_untouched(b, path):
    b.open(path + "#18")
    for time in (0, 40, 400, 10 ** 9):
        b.run("showTime(arguments[0]); return 1", time)
        for name, accesses, filled, caption in b.run(TOUCHED):
            if accesses == 0:
                assert filled == 0 and caption == "not accessed yet", (name, time, filled, caption)
            else:
                assert filled > 0, (name, time)
            if time == 10 ** 9:  # with gaps between the cells
                assert filled > 0.5, (name, filled)


# --- the chart -------------------------------------------------------------------------------

def check_bars(b, path, data):
    b.open(path)
    b.wait("document.querySelector('#chart .bar')")
    rows = b.run("""return [...document.querySelectorAll('#chart button')].map(e => {
      const name = e.querySelector('.name');
      return [name.textContent, name.scrollWidth <= name.clientWidth, parseFloat(getComputedStyle(name).fontSize)];
    })""")
    assert [r[0] for r in rows[1:]] == ["%d %s" % (s["number"], s["primitive"]) for s in data["steps"]], rows
    assert all(r[1] and r[2] >= 11 for r in rows), rows
    bars = b.run("return [...document.querySelectorAll('#chart .bar')].map(e => [parseFloat(e.firstChild.style.width), e.nextSibling.textContent])")
    most = max(float(text) for _, text in bars)
    assert all(abs(width - 100 * float(text) / most) < 0.1 for width, text in bars), bars
    b.hover("#chart button:nth-child(4)")
    assert data["steps"][2]["call"] in b.text("#tip") and b.run("!document.getElementById('tip').hidden")
    b.run("document.querySelector('#chart button:nth-child(5)').focus(); return 1")
    assert data["steps"][3]["call"] in b.text("#tip")


# --- what is explained -----------------------------------------------------------------------

def check_terms(b, path, data):
    b.open(path + "#2")
    for selector in ("#program", "#tree", "#sentence"):
        terms = b.run("return [...document.querySelectorAll(arguments[0] + ' [data-term]')].map(e => e.dataset.term)", selector)
        for term in dict.fromkeys(terms):
            place = '%s [data-term="%s"]' % (selector, term)
            b.hover("#title")
            assert b.run("document.getElementById('tip').hidden"), term
            b.hover(place)
            said = one_line(b.text("#tip"))
            assert said.startswith(term) and len(said) > len(term) + 20 and said[len(term):].strip() in explain(term), (term, said)
            assert b.run("document.querySelector(arguments[0]).tabIndex", place) == 0, place  # the first of each is a stop
            b.hover("#title")
            b.run("document.querySelector(arguments[0]).focus(); return 1", place)
            assert one_line(b.text("#tip")) == said and b.run("!document.getElementById('tip').hidden"), place
            assert b.run("document.activeElement.getAttribute('aria-describedby')") == "tip"
            b.press("Escape")
            assert b.run("document.getElementById('tip').hidden")
            b.run("document.activeElement.blur(); return 1")
    words = lambda selector: set(b.run("return [...document.querySelectorAll(arguments[0] + ' [data-term]')].map(e => e.textContent)", selector))
    assert {'"SSR"', "T.block", "T.init", "T.reads", "T.writes", "T.axis.remap"} <= words("#program"), words("#program")
    assert "SSR" in words("#tree"), words("#tree")
    b.press("End")
    assert {"T.alloc_buffer", "T.axis.spatial"} <= words("#program"), words("#program")
    b.press("Home", "ArrowRight")
    assert words("#sentence") == {"block"}, b.text("#sentence")
    assert b.run("return TERM_OF.map(t => t[1]).filter(name => !(name in data.terms))") == []
    marked = b.run("return withTerms('A predicate on spatial Reduction blocks.').filter(n => n.dataset).map(n => [n.textContent, n.dataset.term])")
    assert marked == [["predicate", "block-predicate"], ["spatial", "iterator-kinds"], ["Reduction blocks", "reduction-block"]], marked


def check_predicate(b, folder):
    schedule = os.path.join(folder, "tail.sch")
    with open(schedule, "w", encoding="utf-8") as f:
        f.write('i, j, k = sch.get_loops("C")\nsch.split(k, factors=[None, 5])\n')
    path, _, data = make_page(folder, EXAMPLES + "matmul/matmul.tir", schedule, "-D", "K=12", name="tail")
    b.open(path + "#2")
    for place in ("#program [data-term]", "#tree [data-term]"):
        found = b.run("""return [...document.querySelectorAll(arguments[0])].filter(e => /^(T.where|guarded|where)/.test(e.textContent))
                         .map(e => e.dataset.term)""", place)
        assert found and "predicate" in found[0], (place, found)


def check_refusal(b, folder):
    folder_of = EXAMPLES + "decompose_reduction/"
    path, _, data = make_page(folder, folder_of + "matmul.tir", folder_of + "early.sch", status=1, name="refused")
    error = data["steps"][-1]["error"]
    check_nothing_jumps(b, path, data)
    b.press("End")
    said, whole = one_line(b.text("#error")), explain(error["code"])
    for part in (error["message"], error["condition"], error["hint"], *map(one_line, b.run(
            "return [...document.querySelectorAll('#error .rule, #error .definition')].map(e => e.textContent)"))):
        assert one_line(part) in said, part
    rule = one_line(b.text("#error .rule"))
    assert rule in whole and len(rule) > 20, rule
    path, _, data = make_page(folder, folder_of + "matmul.tir", folder_of + "middle.sch", status=1, name="refused")
    b.open(path)
    b.press("End")
    whole = explain(data["steps"][-1]["error"]["code"])
    definitions = b.run("return [...document.querySelectorAll('#error .definition')].map(e => e.textContent)")
    assert len(definitions) >= 2 and all(one_line(d) in whole for d in definitions), definitions


def check_warnings(b, folder):
    schedule = os.path.join(folder, "warned.sch")
    with open(schedule, "w", encoding="utf-8") as f:
        f.write('i, j, k = sch.get_loops("C")\nsch.annotate(i, "mine", 1)\nsch.annotate(i, "mine", 2)\nsch.parallel(i)\n')
    path, _, data = make_page(folder, EXAMPLES + "matmul/matmul.tir", schedule, name="warned")
    assert [len(s.get("warnings", [])) for s in data["steps"]] == [0, 0, 1, 0], data["steps"]
    check_nothing_jumps(b, path, data)
    for number, step in enumerate(data["steps"], 1):
        b.run("show(arguments[0]); return 1", number)
        text = one_line(b.text("#warnings"))
        for w in step.get("warnings", []):
            assert w["code"] in text and one_line(w["message"]) in text and w.get("hint", "") in text, text
        assert bool(text) == bool(step.get("warnings")), (number, text)
    assert b.run("return [...document.querySelectorAll('#script .warned')].map(e => e.textContent)") == ['sch.annotate(i, "mine", 2)']


# --- for everybody ---------------------------------------------------------------------------

# Of each piece of text that is seen: its colour, what it stands on, and where it is.
TEXTS = """
  const found = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, s = getComputedStyle(e);
    if (!walker.currentNode.textContent.trim() || /^(SCRIPT|STYLE|TITLE|title|OPTION)$/.test(e.tagName)) continue;
    if (!e.getClientRects().length || s.visibility === 'hidden' || e.closest(':disabled')) continue;
    let under = [], opacity = 1;
    for (let a = e; a; a = a.parentElement) {
      const c = getComputedStyle(a);
      opacity *= Number(c.opacity);
      if (a instanceof SVGGElement) {
        const shape = e.classList.contains('dim') && !a.classList.contains('buffer') ? null : a.querySelector('rect');
        if (shape) under.push(getComputedStyle(shape).fill);
      }
      under.push(c.backgroundColor);
    }
    const colour = e.ownerSVGElement ? s.fill : s.color;
    const key = [colour, under.join(' '), opacity].join('|');
    if (!found.has(key)) found.set(key, { text: walker.currentNode.textContent.slice(0, 30), place: e.tagName + '.' + (e.className.baseVal ?? e.className), colour, under, opacity });
  }
  return [...found.values()]"""


def check_contrast(b, pages):
    for path, steps in pages:
        for theme in ("light", "dark"):
            b.open(path)
            b.run("theme(arguments[0]); return 1", theme)
            b.wait("document.querySelector('#chart .bar')")
            for number in steps:
                b.run("show(arguments[0]); showTime(500); return 1", number)
                texts = b.run(TEXTS)
                assert len(texts) > 10
                for t in texts:
                    on = next(c for c in map(parse, t["under"]) if c[3] == 1)
                    ratio = contrast(parse(t["colour"])[:3], on[:3])
                    assert ratio >= 4.5 and t["opacity"] == 1, (theme, number, t, round(ratio, 2))


def check_colour_blind(b, path):
    """What colours of arrays mean is told apart by whoever sees only two kinds of them; a miss is a frame, too."""
    b.open(path)
    for theme in ("light", "dark"):
        b.run("theme(arguments[0]); return 1", theme)
        colours = b.run("""return Object.fromEntries(['panel', 'touched', 'cached', 'read', 'write', 'miss'].map(n => {
          const e = document.body.appendChild(document.createElement('i'));
          e.style.color = `var(--${n})`;
          const c = getComputedStyle(e).color;
          e.remove();
          return [n, c];
        }))""")
        for eyes in ("all", "protanopia", "deuteranopia", "tritanopia"):
            seen = {name: seen_by(eyes, parse(c)[:3]) for name, c in colours.items()}
            for x in seen:
                for y in seen:
                    assert x >= y or distance(seen[x], seen[y]) > 11, (theme, eyes, x, y, distance(seen[x], seen[y]))


def check_keyboard(b, path):
    b.open(path)
    stops = []
    for _ in range(30):
        b.press("Tab")
        stop = b.run("""const e = document.activeElement, s = getComputedStyle(e);
          return [e.id || e.dataset.term || e.tagName, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]""")
        assert stop[1], stop
        stops.append(stop[0])
    assert {"slider", "next", "program", "script"} <= set(stops), stops
    b.run("document.getElementById('program').focus(); return 1")
    b.press("ArrowRight", "ArrowRight")
    assert b.run("state.step") == 2
    b.run("document.querySelector('#program [data-term]').focus(); return 1")
    term = b.run("document.activeElement.dataset.term")
    b.press("ArrowLeft", "Space")  # the text is made anew, the focus stays
    assert b.run("document.activeElement.dataset.term") == term
    assert b.run("state.step") == 1 and b.run("state.playing")
    b.press("Space")
    assert b.run("!state.playing")


def check_motion(path):
    """Played with less motion, the picture changes twice a second at most; otherwise with every access."""
    for reduced in (True, False):
        b = opened(path, reduced_motion=reduced)
        try:
            b.run("""window.paints = []; const old = showTime; showTime = t => { old(t); paints.push(state.time); };
                     document.getElementById('speed').value = arguments[0]; play(true); return 1""", "60" if reduced else "10")
            b.wait("state.time > " + ("100" if reduced else "20"))
            b.run("play(false); return 1")
            times = [t for t in b.run("paints") if t > 0]
            strides = [y - x for x, y in zip(times, times[1:])]
            assert b.run("getComputedStyle(document.body).transitionDuration") in ("", "0s")
            if reduced:
                assert min(strides) >= 30, strides
            else:
                assert min(strides) == 1, strides
        finally:
            b.close()


def check_sizes(pages):
    """Nothing sticks out sideways, and at the sizes of screens nothing scrolls."""
    for size, scrolls in (((1920, 1080), False), ((1366, 650), False), ((800, 1000), True), ((390, 844), True)):
        b = Browser(*size)
        try:
            for path, data in pages:
                b.open(path + "#%d" % len(data["steps"]))
                assert b.run("document.documentElement.scrollWidth <= innerWidth"), (size, path)
                assert scrolls or b.run("document.documentElement.scrollHeight <= innerHeight"), (size, path)
                if size[0] < 720 and data["steps"][-1].get("error"):  # the reason comes before the program, on the first screen
                    error, program = b.run("return ['error', 'program'].map(n => document.getElementById(n).getBoundingClientRect().top)")
                    assert error < program and error < size[1] * 0.6, (size, error, program)
                b.run("showTime(1e9); return 1")
                cut = b.run(CUT_CAPTIONS) if size[0] > 500 else []
                assert cut == [], (size, cut)
                cut = b.run(CUT_LINES) if not scrolls else []
                assert cut == [], cut
        finally:
            b.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        matmul, _, matmul_data = example(folder, "matmul", "rule_based", "-D", "M=16", name="matmul")
        softmax, _, softmax_data = example(folder, "softmax", "vector_rows", name="softmax")
        refused, _, refused_data = make_page(folder, EXAMPLES + "decompose_reduction/matmul.tir",
                                             EXAMPLES + "decompose_reduction/early.sch", status=1, name="early")
        threads, _, threads_data = make_page(folder, ROOT + "/tests/page/threads.tir", ROOT + "/tests/page/threads.sch", name="threads")
        b = opened(matmul)
        try:
            check_seen_together(b, matmul)
            check_whole_lines(b, folder)
            check_untouched(b, matmul)
            check_nothing_jumps(b, matmul, matmul_data)
            check_nothing_jumps(b, softmax, softmax_data, step_by=7)
            check_nothing_jumps(b, threads, threads_data, step_by=4)
            check_other_file(b, softmax, softmax_data)
            check_bars(b, matmul, matmul_data)
            check_terms(b, matmul, matmul_data)
            check_predicate(b, folder)
            check_refusal(b, folder)
            check_warnings(b, folder)
            check_contrast(b, ((matmul, (0, 7, 12, 19)), (threads, (0, 17)), (refused, (len(refused_data["steps"]),))))
            check_colour_blind(b, matmul)
            check_keyboard(b, matmul)
            said = [m for m in b.log() if "willReadFrequently" not in m]  # the pixels that this test reads
            assert said == [], said
        finally:
            b.close()
        check_motion(matmul)
        check_sizes(((matmul, matmul_data), (softmax, softmax_data), (threads, threads_data), (refused, refused_data)))
    print("ok")


try:
    main()
except Missing as reason:
    print("skipped:", reason)
    sys.exit(77)
