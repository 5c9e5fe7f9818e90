"""The playground in a browser, for tests that are called with TIRC SOURCE_ROOT FOLDER [--long]."""
import os
import sys

from browser import Browser

TIRC, ROOT, FOLDER = (os.path.abspath(a) for a in sys.argv[1:4])
LONG = "--long" in sys.argv
SMALL = os.path.join(ROOT, "tests/cli/small.tir")


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def opened(size=(1366, 768), more="", **settings):
    b = Browser(*size, **settings)
    b.request("POST", "/url", {"url": "file://" + FOLDER + "/index.html" + more})
    b.wait("document.documentElement.dataset.ready")
    patient(b)
    settled(b)
    return b


def patient(b):
    """A busy machine may take longer than the page waits for its compiler."""
    b.run("compiler.patience = 200000; return 1")


def set_texts(b, program, schedule):
    b.run("openText(arguments[0], arguments[1]); return 1", program, schedule)
    settled(b)


def replace_schedule(b, text):
    """As one who types."""
    b.run("schedule.view.dispatch({changes: {from: 0, to: schedule.view.state.doc.length, insert: arguments[0]}}); return 1", text)


def settled(b):
    b.wait("!compiler.busy && ran")


def type_text(b, text):
    """Key by key, into what has the focus."""
    actions = []
    for c in text:
        key = "\ue007" if c == "\n" else c
        actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
    b.request("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})


def shown_program(b):
    return b.run("return [...document.querySelectorAll('#program .l:not(.del)')].map(e => e.textContent).join('\\n')")
