"""What a reader of the playground does beside compiling: takes what is offered, asks for a hint, exports, shows it in a slide."""
import os
import subprocess
import tempfile

from play import ROOT, SMALL, TIRC, opened, read, replace_schedule, set_texts, settled, type_text

LOOPS = 'outer, inner, k = sch.get_loops("C")\n'


def type_behind(b, editor, text, typed):
    """The text is there, and the last letters of it are typed."""
    b.run("const [e, text] = arguments; const v = {program, schedule}[e].view; v.focus(); v.dispatch({changes: {from: 0, to: v.state.doc.length, insert: text},"
          " selection: {anchor: text.length}}); return 1", editor, text)
    type_text(b, typed)


def check_completion(b):
    """Primitives with what they need, parameters, handles, names of blocks and of buffers, words of programs: the rest is taken by Enter."""
    set_texts(b, read(SMALL), "")
    cases = (("schedule", LOOPS, "sch.spl", "split", "sch.split("), ("schedule", LOOPS, "sch.split(outer, fac", "factors=", "factors="),
             ("schedule", LOOPS, "sch.parallel(ou", "outer", "parallel(outer"), ("schedule", 'sch.compute_inline("', "C", "C", '("C'),
             ("schedule", 'sch.cache_read("C", "', "A", "A", '"A'), ("program", read(SMALL) + "    T.", "thread_b", "thread_binding", "T.thread_binding"))
    for editor, text, typed, offered, taken in cases:
        type_behind(b, editor, text, typed)
        b.wait("[...document.querySelectorAll('.cm-completionLabel')].some(e => e.textContent === %r)" % offered)
        if offered == "split":
            b.wait("/Parameters.*factors.*Needs/.test((document.querySelector('.cm-completionInfo') || {}).textContent)")
            assert "preserve_unit_iters=True" in b.text(".cm-completionDetail"), b.text(".cm-completionDetail")
        b.run("const at = [...document.querySelectorAll('.cm-tooltip-autocomplete li')].find(e => e.querySelector('.cm-completionLabel').textContent === arguments[0]);"
              "at.dispatchEvent(new MouseEvent('mousedown', {bubbles: true, cancelable: true})); return 1", offered)
        assert taken in b.run("%s.text()" % editor), (offered, b.run("%s.text()" % editor))
    set_texts(b, read(SMALL), 'for i in range(2):  # a comment\n    sch.get_block("C")\n')
    assert b.run("new Set([...document.querySelectorAll('#script .cm-line span')].map(e => getComputedStyle(e).color)).size") >= 4


def check_hints(b):
    """Hints one after the other; the solution call by call, and back to what one wrote."""
    b.run("openItem('lesson/' + shelf.lessons.find(l => l.hints.length > 1).name); return 1")
    settled(b)
    replace_schedule(b, "# mine\n")
    settled(b)
    for n in range(1, b.run("lesson.hints.length") + 1):
        b.click("#hint")
        assert b.run("document.getElementById('hints').children.length") == n
    assert b.run("document.getElementById('hint').hidden")
    b.click("#solution")
    b.wait("schedule.text() === lesson.solution && !compiling && state.step === 0")
    for step in range(1, b.run("data.steps.length") + 1):
        b.click("#next")
        assert b.run("state.step") == step and b.text("#sentence")
    b.click("#solution")
    assert b.run("schedule.text()") == "# mine\n"
    b.wait("!compiling")
    b.run("localStorage.clear(); openLesson(null); return 1")


def check_exports(b):
    """The files are what stands in the editors, and the commands that are shown do with them what the page does."""
    schedule = 'sch.parallel(sch.get_loops("C")[0])\n'
    set_texts(b, read(SMALL), schedule)
    with tempfile.TemporaryDirectory() as folder:
        b.command("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
        for what, name in (("tir", "program.tir"), ("sch", "schedule.sch"), ("svg", "picture.svg")):
            b.click("#export summary")
            b.click("[data-export=%s]" % what)
            # The browser makes an empty file under the name first, and puts the whole one in its place.
            b.wait_for(lambda: os.path.exists(os.path.join(folder, name)) and os.path.getsize(os.path.join(folder, name)) > 0, name)
        assert read(os.path.join(folder, "program.tir")) == read(SMALL) and read(os.path.join(folder, "schedule.sch")) == schedule
        assert read(os.path.join(folder, "picture.svg")).startswith("<svg")
        b.click("#export summary")
        b.click("[data-export=command]")
        b.wait("document.getElementById('dialog').open")
        commands = b.run("document.getElementById('dialog-text').value").split("\n")
        b.click("#dialog-close")
        for command in commands:
            words = command.split()
            done = subprocess.run([TIRC, *words[1:]], cwd=folder, capture_output=True, text=True)
            assert words[0] == "tirc" and done.returncode == 0, (command, done.stderr)
            if words[1] == "apply":
                assert done.stdout.rstrip() == b.run("data.programs[data.steps[data.steps.length - 1].after].text").rstrip()
        assert {"page.html", "program.c"} <= set(os.listdir(folder))


def check_embed():
    """In a slide: what is shared, without menus."""
    b = opened((900, 600), "?embed")
    try:
        set_texts(b, read(SMALL), "")
        assert b.run("return ['open', 'export', 'share', 'program', 'tree'].map(id => document.getElementById(id).offsetHeight > 0)") == [False, False, True, True, True]
        b.assert_quiet()
    finally:
        b.close()


HALF = """@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            S[t] = A[t]
            if t < 4:
                T.tvm_storage_sync("shared")
            B[t] = S[7 - t]
"""


def check_race(b):
    """A race is shown with the statement and the element, a barrier with its line."""
    b.click("[data-pane=emulated]")
    for program, said in ((read(os.path.join(ROOT, "tests/emulate/refused/threads_store_others.tir")), "at the same time"), (HALF, "not all threads reach a barrier")):
        set_texts(b, program, "")
        b.wait("document.getElementById('emulated').textContent.includes(%r)" % said)
    b.click("[data-pane=tree]")
