"""The lessons in the playground, as a learner has them: solved by typing, one by the keyboard alone, and the errors that
they speak of provoked."""
import glob
import os
import re

from play import LONG, ROOT, patient, read, replace_schedule, set_texts, settled, type_text

LESSONS = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(os.path.join(ROOT, "examples/lessons/*/program.tir")))


def press(b, key, modifier=None):
    """A key, or a key that is pressed while another one is held."""
    up = lambda k: {"type": "keyUp", "value": k}
    down = lambda k: {"type": "keyDown", "value": k}
    keys = [down(key), up(key)] if not modifier else [down(modifier), down(key), up(key), up(modifier)]
    b.request("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})


SHIFT, CONTROL = "\ue008", "\ue009"
ESCAPE, ENTER, HOME, DELETE, TAB, DOWN = "\ue00c", "\ue007", "\ue011", "\ue017", "\ue004", "\ue015"


def type_lines(b, text):
    """Into the editor that has the focus, in place of what is there; the indentation is the text's, not the editor's."""
    press(b, "a", CONTROL)
    press(b, DELETE)
    for i, line in enumerate(text.rstrip("\n").split("\n")):
        if i:
            press(b, ESCAPE)  # what is offered would be taken by the next key
            press(b, ENTER)
            press(b, HOME, SHIFT)
        if line:
            b.command("Input.insertText", {"text": line})
        else:
            press(b, DELETE)
    press(b, ESCAPE)


def is_done(b):
    return b.run("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")


def check_by_typing(b, names):
    """What stands in the solution is typed, and the exercise is done; before, it was not."""
    for name in names:
        b.run("openItem('lesson/' + arguments[0]); return 1", name)
        b.wait("document.querySelectorAll('#verdicts li').length")
        assert not is_done(b), name
        b.run("schedule.focus(); return 1")
        solution = b.run("lesson.solution")
        type_lines(b, solution)
        kept = [line.rstrip() for line in b.run("schedule.text()").rstrip().split("\n")]
        assert kept == [line.rstrip() for line in solution.rstrip().split("\n")], (name, kept)
        try:
            b.wait("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")
        except AssertionError:
            raise AssertionError((name, b.text("#verdicts"), b.text("#error"))) from None
        assert b.run("[...document.getElementById('open').options].some(o => o.value === 'lesson/' + arguments[0] && o.textContent.startsWith('\\u2713'))", name)
        b.assert_quiet()
        b.run("localStorage.clear(); return 1")


TIMES = """
  window.times = null;
  (async () => {
    const times = [];
    for (let i = 0; i < 5; i++) {
      clearTimeout(timer);
      await compile();
      times.push(parseInt(document.getElementById('ready').value));
    }
    window.times = times;
  })();
  return 1;"""


def check_times(b):
    """How soon the program, the tree and the errors follow an edit, the least of five times of each solution; printed, not asserted."""
    least = {}
    for name in LESSONS:
        b.run("openItem('lesson/' + arguments[0]); return 1", name)
        settled(b)
        replace_schedule(b, b.run("lesson.solution"))
        b.run(TIMES)
        b.wait("window.times", 300)
        least[name] = min(b.run("return window.times"))
    longest = max(least, key=least.get)
    print("lessons' programs: %d of %d follow within 100 ms, the longest in %d ms (%s)" % (sum(t <= 100 for t in least.values()), len(least), least[longest], longest))
    b.assert_quiet()  # each edit came while the misses of the one before were counted
    b.run("localStorage.clear(); openLesson(null); document.getElementById('open').value = ''; return 1")


def check_keyboard(b):
    """The first lesson, from a page that was just opened to `done`, without a mouse: what has the focus is always known."""
    focus = "return document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.tagName"
    b.run("localStorage.clear(); return 1")
    b.request("POST", "/refresh", {})
    b.wait("document.documentElement.dataset.ready && !compiling")
    patient(b)
    press(b, TAB)
    assert b.run(focus) == "open"
    for _ in range(20):
        press(b, DOWN)
        if b.run("!!lesson"):
            break
    assert b.run("lesson.name === shelf.lessons[0].name")
    settled(b)
    for _ in range(60):
        press(b, TAB)
        if b.run(focus) == "Schedule":
            break
    assert b.run(focus) == "Schedule"
    press(b, "a", CONTROL)
    press(b, DELETE)
    for line in b.run("lesson.solution").rstrip("\n").split("\n"):
        type_text(b, line)
        press(b, ESCAPE)
        press(b, ENTER)
    b.wait("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")
    assert b.run("document.getElementById('verdicts').getAttribute('aria-live')") == "polite"
    # and out of the editor again
    press(b, ESCAPE)
    press(b, TAB)
    assert b.run(focus) != "Schedule"
    b.run("localStorage.clear(); openLesson(null); document.getElementById('open').value = ''; return 1")


# --- errors ----------------------------------------------------------------------------------

def case_of(code):
    """The example of `tirc explain CODE`."""
    text = read(os.path.join(ROOT, "tests/cases/explain", code + ".case"))
    part = lambda name: re.search(r"^--- %s\n(.*?)(?=^--- |\Z)" % name, text, re.S | re.M)
    return text, part("program").group(1), part("schedule").group(1)


def codes_of_lessons():
    codes = re.findall(r'^(?:ARGUMENT_)?ERROR\(\w+, "([\w-]+)"', read(os.path.join(ROOT, "ir/codes.def")), re.M)
    pages = "".join(read(os.path.join(ROOT, "examples/lessons", name, "README.md")) for name in LESSONS)
    return [c for c in codes if LONG or re.search(r"(?<![\w-])%s(?![\w-])" % c, pages)]


def check_codes(b):
    """Each error is said with its code and what explain says of it, and underlined where it is."""
    codes = codes_of_lessons()
    assert len(codes) > 5, codes
    checked = 0
    for code in codes:
        text, program, script = case_of(code)
        if not re.search(r"^verdict: ScheduleError", text, re.M):
            continue
        set_texts(b, program, script)
        found = b.run("return data.steps.map(s => s.error).concat([data.error]).filter(e => e).map(e => e.code)")
        assert code in found, (code, found)
        assert b.run("data.explanations[arguments[0]].rule", code) in b.text("#error"), code
        assert b.run("document.querySelectorAll('#script .cm-lintRange-error, #source .cm-lintRange-error').length") > 0, code
        checked += 1
    assert checked
    b.assert_quiet()
    return checked
