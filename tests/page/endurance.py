"""What the playground must bear: texts that try to get out of their place, edits without end, a program of 3,000 lines."""
import json

from play import LONG, SMALL, opened, read, replace_schedule, set_texts, settled, type_text

# --- hostile texts ---------------------------------------------------------------------------

MARKUP = ['<img src=x onerror="window.hit=1">', "<svg onload=window.hit=1>", "</script><script>window.hit=1</script>", "<iframe srcdoc='<script>parent.hit=1</script>'>",
          "<a href=javascript:window.hit=1>x</a>", "\"><img src=x onerror=window.hit=1>", "'-window.hit-'", "<style>*{display:none}</style>", "<!--", "-->", "]]>",
          "<b data-term=block>x</b>", "&lt;img src=x&gt;", "${window.hit=1}", "{{window.hit=1}}", "\u202egnp.exe", "\\u003cimg src=x onerror=window.hit=1\\u003e",
          "<math><mi xlink:href=javascript:window.hit=1>", "<details open ontoggle=window.hit=1>", "%3Cimg src=x%3E"]


def places(text):
    """Where a text of somebody else's may stand: (program, schedule)."""
    quoted, small = json.dumps(text), read(SMALL)
    return [(small, "# %s\nsch.get_block(%s)\n" % (text, quoted)), (small, "print(%s)\n" % quoted), (small, "assert False, %s\n" % quoted),
            (small.replace('"C"', quoted), 'sch.parallel(sch.get_loops(%s)[0])\n' % quoted),
            (small, 'sch.annotate(sch.get_loops("C")[0], %s, %s)\n' % (quoted, quoted))]


def check_hostile_page(b):
    """Each text is shown as text: it makes no element and runs nothing."""
    shown = 0
    for text in MARKUP if LONG else MARKUP[::5]:
        for program, schedule in places(text):
            set_texts(b, program, schedule)
            assert b.run("return [window.hit, document.querySelectorAll('img, iframe, a[href], math, [onload], [onerror], [ontoggle]').length]") == [None, 0], (text, schedule)
            assert b.run("document.getElementById('tree').offsetHeight") > 0 and b.run("schedule.text()") == schedule, (text, schedule)
            shown += 1
    b.assert_quiet()
    return shown


# --- edits -----------------------------------------------------------------------------------

EDIT = """
  const edits = arguments[0];
  window.edited_all = false;
  (async () => {
    for (let i = 0; i < edits; i++) {
      schedule.view.dispatch({changes: {from: 0, to: schedule.view.state.doc.length, insert: `i, j, k = sch.get_loops("C")\\nsch.split(j, factors=[None, ${1 + i % 8}])\\n`}});
      clearTimeout(timer);
      await compile();
    }
    window.edited_all = true;
  })();
  return 1;"""


def held(b, edits):
    """What the page holds after so many edits more: bytes, and elements."""
    b.run(EDIT, edits)
    b.wait("edited_all", 900)
    b.command("HeapProfiler.collectGarbage", {})
    return b.command("Runtime.getHeapUsage", {})["usedSize"], b.command("Memory.getDOMCounters", {})["nodes"]


def check_memory(b):
    """Edits do not add up in the page either; the first ones fill what Undo keeps."""
    set_texts(b, read(SMALL), "")
    bytes_first, nodes_first = held(b, 160)
    bytes_last, nodes_last = held(b, 1000)
    print("1,000 edits: %.2f MB and %d nodes before, %.2f MB and %d nodes after" % (bytes_first / 1e6, nodes_first, bytes_last / 1e6, nodes_last))
    assert bytes_last <= bytes_first + 2**20 and nodes_last <= 1.2 * nodes_first, (bytes_first, nodes_first, bytes_last, nodes_last)
    b.assert_quiet()


# --- 3,000 lines -----------------------------------------------------------------------------

LONGEST = """
  window.longest = 0;
  let last = performance.now();
  clearInterval(window.beat);
  window.beat = setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; }, 4);
  return 1;"""


# How many lines come into the page at most before it answers again.
IN_ONE_TASK = """
  window.most = 0;
  const lines = e => e.nodeType !== 1 ? 0 : e.matches('.l') ? 1 : e.querySelectorAll('.l').length;
  new MutationObserver(records => { window.most = Math.max(window.most, records.flatMap(r => [...r.addedNodes]).reduce((n, e) => n + lines(e), 0)); })
    .observe(document.getElementById('program'), {childList: true, subtree: true});
  return 1;"""


def large_program(blocks):
    """Four lines a block."""
    return "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n" + "".join(
        "    for i in range(8):\n        with T.block(\"B_%d\"):\n            vi = T.axis.spatial(8, i)\n            B[vi] = A[vi] + T.float32(%d)\n" % (n, n)
        for n in range(blocks))


def check_large(b):
    """A program of 3,000 lines is shown, and can be edited and cancelled; how long the page did nothing else is printed."""
    b.run(LONGEST)
    b.run(IN_ONE_TASK)
    b.run("openText(arguments[0], ''); return 1", large_program(750))
    b.wait("!compiling && document.querySelectorAll('#program .l').length >= 3000")
    opened_ms = b.run("window.longest")
    b.run(LONGEST)
    b.run("schedule.focus(); return 1")
    type_text(b, 'sch.parallel(sch.get_loops("B_700")[0])')
    b.press("Escape")
    b.wait("data.steps.some(s => s.primitive === 'parallel') && !compiling")
    b.wait("document.querySelectorAll('#program .l').length >= 3000")
    typed_ms = b.run("window.longest")
    assert b.run("window.most") <= 500, b.run("window.most")
    print("3,000 lines: no task longer than %.0f ms when they are opened, %.0f ms while one types" % (opened_ms, typed_ms))
    replace_schedule(b, 'sch.parallel(sch.get_loops("B_701")[0])\n' + "for i in range(100000):\n    sch.get_loops(\"B_700\")\n")
    b.wait("!document.getElementById('cancel').hidden")
    b.run("window.restarts = compiler.restarts; return 1")
    b.click("#cancel")
    assert b.run("return [document.getElementById('ready').value, compiler.busy, compiling]") == ["cancelled", False, False]
    assert b.run("compiler.restarts - window.restarts") == 1
    set_texts(b, read(SMALL), "")
