"""Long texts on a pseudo-terminal: their lines fit it, no word is lost, code is as it was written, and
colours are there unless NO_COLOR forbids them. In a pipe a text is as it was written."""
import fcntl, glob, os, pty, re, select, signal, struct, subprocess, sys, termios

signal.alarm(240)
tirc, source = sys.argv[1:]
pages = sorted(glob.glob(source + "/examples/lessons/*/README.md"))
ESCAPE = re.compile("\033\\[[0-9;]*m")


def on_terminal(columns, *arguments, **environment):
    """What it writes to a terminal. We keep the other end open: where nobody has it, what was not read yet may be lost."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([tirc, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", **environment))
    seen, ended = b"", False
    while True:
        if select.select([ours], [], [], 0.02)[0]:
            seen += os.read(ours, 65536)
        elif ended:
            break
        else:
            ended = process.poll() is not None
    os.close(ours)
    os.close(theirs)
    return seen.decode().replace("\r\n", "\n")


def in_pipe(*arguments):
    done = subprocess.run([tirc, *arguments], capture_output=True, text=True)
    return done.stdout + done.stderr


def code_of(markdown):
    """The lines of code, as they are shown."""
    lines, fenced = [], False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append("    " + line if line else "")
        elif line.startswith("    "):
            lines.append(line)
    return lines


def words_of(text):
    text = re.sub(r"\[([^]\n]*)\]\([^)\n]*\)", r"\1", text)
    return re.findall(r"\w+", text, re.ASCII)


def too_long(text, columns):
    return [line for line in text.split("\n") if len(line) > columns]


def require(condition, what):
    if not condition:
        sys.exit(what)


if not pages:
    sys.exit("no lessons")
for number, page in enumerate(pages, 1):
    markdown = open(page).read()
    require(in_pipe("lesson", str(number)) == markdown, f"{page} is another one in a pipe")
    for columns in (40, 80, 200):
        coloured = on_terminal(columns, "lesson", str(number))
        plain = on_terminal(columns, "lesson", str(number), NO_COLOR="1")
        require("\033[1m" in coloured and "\033[36m" in coloured, f"{page}: no headings or no code in colour")
        require("**" not in coloured, f"{page}: marks are left:\n{coloured}")
        require("\033" not in plain, f"{page}: NO_COLOR is not respected")
        for text in (ESCAPE.sub("", coloured), plain):
            code = code_of(markdown)
            for line in too_long(text, columns):
                require(line in code, f"{page} at {columns}: {line!r}")
            at = 0
            lines = text.split("\n")
            for line in code:
                require(line in lines[at:], f"{page} at {columns}: the code {line!r} is broken or gone")
                at = lines.index(line, at) + 1
            if "|---" not in markdown:  # the cells of a table may come with their heads
                require(words_of(text) == words_of(markdown.replace("```python", "")), f"{page} at {columns}: words are lost")
        if columns == 200:  # lines of the width of a page, not of the screen
            require(max(map(len, plain.split("\n"))) > 80, f"{page}: lines are not made anew")

# No code in these: every line fits.
texts = [["explain", "complete-block"], ["explain", "commutative-reducer"], ["explain", "tile"], ["explain", "steps"]]
for columns in (40, 80, 200):
    for command in texts:
        text = on_terminal(columns, *command)
        require(words_of(text) == words_of(in_pipe(*command)), f"{command} at {columns}: words are lost")
        require(not too_long(text, columns), f"{command} at {columns}: {too_long(text, columns)}")
    for command in [["help"], ["run", "--help-all"], ["help", "split"], ["bench", "--help-all"], ["explain", "not-single-writer"], ["explain", "out-of-bounds"], ["explain"]]:
        text = ESCAPE.sub("", on_terminal(columns, *command))
        piped = in_pipe(*command).split("\n")
        require(words_of(text) == words_of("\n".join(piped)), f"{command} at {columns}: words are lost")
        for line in too_long(text, columns):  # code, usage and names in front
            known = line in piped or any(line.strip() == p.strip()[: len(line.strip())] for p in piped)
            require(known and re.search(r"T\.|sch\.|tirc|def |for |--|= ", line), f"{command} at {columns}: {line!r}")

# The hint of an error.
schedule = "/tmp/width-%d.sch" % os.getpid()
open(schedule, "w").write('sch.parallel(sch.get_loops("C")[2])\n')
try:
    for columns in (40, 80):
        text = on_terminal(columns, "apply", source + "/tests/cli/small.tir", schedule, NO_COLOR="1")
        hint = text[text.index("\nhint: ") + 1 : text.index("\nmore: ")]
        require(not too_long(hint, columns) and "\n  " in hint, f"the hint at {columns}:\n{hint}")
        require(" ".join(hint.split()) in " ".join(in_pipe("apply", source + "/tests/cli/small.tir", schedule).split()), hint)
finally:
    os.remove(schedule)
print("all as expected")
