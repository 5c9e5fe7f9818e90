#!/usr/bin/env python3
"""README.md and the pages of examples/guide: every command in them is run, and prints what they say.

usage: pages.py TIRC SOURCE [--links] [PAGE...]     PAGE: a part of a page's path; --links: no command is run

The first line of a fenced block says how it is checked:
  console              `$ COMMAND` lines are run in order, in a folder of the page that has examples/, tests/ and tools/;
                       the lines after each command are all that it prints; a line `...` stands for any number of lines
  console status=N     the last command has that exit status; otherwise each has 0
  console measured     numbers and the width of columns are not compared; words and signs are
  console typed        a session: the lines after its prompt are its input
  console unrun="WHY"  not run; commands and options must exist
  python|... file=F    written as F, for the commands below
  python run           run by Python, with the package in tools/python
  console|python needs=X...    skipped without a command, library or Python module X (X,Y: any of them)
  text, sh, lua        only shown
Besides, links must lead somewhere, and each command and option that is named in a line must exist.
"""
import concurrent.futures, ctypes.util, importlib.util, os, pathlib, re, shlex, shutil, subprocess, sys, tempfile

README_LINES, README_COLUMNS = 130, 160
LEAST_COMMANDS = 30  # of all pages: a reader of blocks that finds none fails
# Measured calls are made short: what is compared is which lines there are.
QUICK = {"bench": ["--attempts", "1", "--seconds", "0.01"]}


class Block:
    def __init__(self, page, line, info, lines):
        words = shlex.split(info)
        self.page, self.line, self.lines = page, line, lines
        self.language = words[0] if words else ""
        self.words = [w for w in words[1:] if "=" not in w]
        self.settings = dict(w.split("=", 1) for w in words[1:] if "=" in w)

    def place(self, offset=0):
        return f"{self.page}:{self.line + offset}"

    def commands(self):
        """(offset of its line, command, what it prints) of each `$ ` line."""
        found = []
        for offset, line in enumerate(self.lines, 1):
            if line.startswith("$ "):
                found.append((offset, line[2:], []))
            elif found:
                found[-1][2].append(line)
            else:
                raise ValueError(f"{self.place(offset)}: a block of commands begins with `$ `")
        return found


def read_blocks(name, text):
    blocks, lines, start = [], None, 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("```"):
            if lines is not None:
                lines.append(line)
        elif lines is None:
            lines, start, info = [], number, line[3:]
        else:
            blocks.append(Block(name, start, info, lines))
            lines = None
    return blocks


def without_blocks(text):
    """The prose, with as many lines."""
    inside, kept = False, []
    for line in text.split("\n"):
        fence = line.startswith("```")
        kept.append("" if inside or fence else line)
        inside = inside != fence
    return "\n".join(kept)


# --- what is printed


def as_measured(line):
    return " ".join(re.sub(r"-?\d[\d.]*(e[-+]\d+)?", "#", line).split())


def differs(expected, printed, measured):
    """None, or what is missing: expected lines, of which `...` stands for any, against the printed ones."""
    if measured:
        expected = [line if line.strip() == "..." else as_measured(line) for line in expected]
        printed = [as_measured(line) for line in printed]
    parts, at = [[]], 0
    for line in expected:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    for i, part in enumerate(parts):
        if i == 0:
            starts = [0]
        elif i == len(parts) - 1 and part:
            starts = [max(at, len(printed) - len(part))]
        else:
            starts = range(at, len(printed) - len(part) + 1)
        found = next((s for s in starts if printed[s : s + len(part)] == part), None)
        if found is None:
            wanted = next((line for line in part if line not in printed[at:]), part[0] if part else "")
            return f"{wanted!r} is not where the page has it"
        at = found + len(part)
    if at < len(printed) and expected and expected[-1].strip() != "...":
        return f"{printed[at]!r} is not on the page"
    if printed and not expected:
        return f"{printed[0]!r} is not on the page"
    return None


class Page:
    def __init__(self, name, text, tirc, source, folder):
        self.name, self.text, self.tirc, self.source, self.folder = name, text, tirc, source, folder
        self.blocks = read_blocks(name, text)
        self.problems, self.ran = [], 0
        for part in ("examples", "tests", "tools"):
            (folder / part).symlink_to(source / part)
        (folder / "bin").mkdir()
        wrapper = folder / "bin" / "tirc"
        cases = "".join(f"{c}) shift; set -- {c} {shlex.join(o)} \"$@\" ;;\n" for c, o in QUICK.items())
        wrapper.write_text(f'#!/bin/sh\ncase "$1" in\n{cases}esac\nexec {shlex.quote(str(tirc))} "$@"\n')
        wrapper.chmod(0o755)
        (folder / "bin" / "python3").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        (folder / "bin" / "python3").chmod(0o755)
        self.environment = os.environ | {
            "PATH": f"{folder}/bin:{os.environ['PATH']}", "TIRC_DATABASE": f"{folder}/tirc.db", "TIRC_CACHE": f"{folder}/cache", "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8", "TIRC_LIBRARY": str(tirc.parent.parent), "PYTHONPATH": str(source / "tools/python"),
            "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)}

    def complain(self, place, message):
        self.problems.append(f"{place}: {message}")

    def call(self, command, typed=None):
        self.ran += 1
        done = subprocess.run(command, cwd=self.folder, env=self.environment, timeout=200, text=True,
                              input=typed or "", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        lines = done.stdout.split("\n")
        return done.returncode, lines[:-1] if lines[-1] == "" else lines

    def run_commands(self, block):
        commands = block.commands()
        for i, (offset, command, expected) in enumerate(commands):
            typed = None
            if "typed" in block.words:
                typed = "".join(line.split("> ", 1)[1] + "\n" for line in expected if line.startswith("tirc> "))
                expected = [line for line in expected if not line.startswith("tirc> ")]
            status, printed = self.call(["bash", "-c", command], typed)
            wanted = int(block.settings.get("status", 0)) if i == len(commands) - 1 else 0
            problem = f"status {status}, not {wanted}" if status != wanted else differs(expected, printed, "measured" in block.words)
            if problem:
                self.complain(block.place(offset), f"{command}\n  {problem}\n  printed: " + "\n    ".join(printed[:40]))

    def run_block(self, block):
        kind, settings = block.language, block.settings
        if "file" in settings:
            (self.folder / settings["file"]).write_text("\n".join(block.lines) + "\n")
        elif kind == "console" and "unrun" in settings:
            for offset, command, _ in block.commands():
                self.check_options(block.place(offset), command)
        elif "needs" in settings and not any(is_there(x) for x in settings["needs"].split(",")):
            print(f"{block.place()}: left out, there is no {settings['needs']}")
        elif kind == "console":
            self.run_commands(block)
        elif kind == "python" and "run" in block.words:
            (self.folder / "block.py").write_text("\n".join(block.lines) + "\n") # a file: its text can be read again
            status, printed = self.call([sys.executable, "block.py"])
            if status:
                self.complain(block.place(), "\n    ".join(printed[-20:]))
        elif kind not in ("text", "sh", "lua", "c"):
            self.complain(block.place(), f"a block of the kind '{kind}' is neither run nor marked as only shown")

    def check_options(self, place, command):
        """Each tirc of a command line: that its subcommand exists, and takes the options."""
        command = re.sub(r"\s#.*", "", command)
        for call in re.findall(r"\btirc +((?:[^|;&<>()`]|\|(?=\w))*)", command):
            words = call.split()
            if not re.fullmatch(r"[a-z]+", words[0] if words else "") or words[0] == "help":
                continue
            takes = options(self.tirc, words[0])
            if takes is None:
                self.complain(place, f"there is no command `tirc {words[0]}`")
                continue
            for option in re.findall(r"(?<!\S)--[a-z-]+", call):
                if option not in takes :
                    self.complain(place, f"`tirc {words[0]}` has no option {option}")

    def check_prose(self):
        prose = without_blocks(self.text)
        for span in re.finditer(r"`([^`]+)`", prose):
            self.check_options(f"{self.name}:{prose.count(chr(10), 0, span.start()) + 1}", span[1].replace("\n", " "))
        for link in re.finditer(r"\]\(([^)\s]+)\)", prose):
            target, _, anchor = link[1].partition("#")
            place = f"{self.name}:{prose.count(chr(10), 0, link.start()) + 1}"
            if "://" in target:
                continue
            path = (self.source / self.name).parent / target if target else self.source / self.name
            if not path.exists():
                self.complain(place, f"the link {link[1]} leads nowhere")
            elif anchor and anchor not in anchors(path):
                self.complain(place, f"{target} has no heading #{anchor}")

    def check(self):
        self.check_prose()
        for block in self.blocks:
            try:
                self.run_block(block)
            except (ValueError, OSError, subprocess.TimeoutExpired) as error:
                self.complain(block.place(), str(error))


def is_there(name):
    return shutil.which(name) or ctypes.util.find_library(name) or importlib.util.find_spec(name)


def anchors(path):
    page = path / "README.md" if path.is_dir() else path
    heads = re.findall(r"^#+ +(.*)$", without_blocks(page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def options(tirc, command, known={}):
    """The options that a command's help has; None where there is no such command."""
    if command not in known:
        done = subprocess.run([tirc, command, "--help-all"], capture_output=True, text=True)
        known[command] = set(re.findall(r"--[a-z][a-z-]*", done.stdout)) if done.returncode == 0 else None
    return known[command]


def main(tirc, source, *only):
    links, only = "--links" in only, [part for part in only if part != "--links"]
    tirc, source = pathlib.Path(tirc).resolve(), pathlib.Path(source).resolve()
    readme = (source / "README.md").read_text(encoding="utf-8")
    problems, ran = [], 0
    if readme.count("\n") > README_LINES:
        problems.append(f"README.md: {readme.count(chr(10))} lines, more than {README_LINES}")
    problems += [f"README.md:{n}: {len(line)} columns, more than {README_COLUMNS}"
                 for n, line in enumerate(readme.split("\n"), 1) if len(line) > README_COLUMNS]
    with tempfile.TemporaryDirectory() as scratch:
        pages = []
        for path in [source / "README.md", *sorted((source / "examples/guide").glob("*.md"))]:
            name = str(path.relative_to(source))
            if not only or any(part in name for part in only):
                folder = pathlib.Path(scratch) / path.stem
                folder.mkdir()
                pages.append(Page(name, path.read_text(encoding="utf-8"), tirc, source, folder))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(Page.check_prose if links else Page.check, pages))
        for page in pages:
            problems += page.problems
            ran += page.ran
    print("\n".join(problems + [f"{len(pages)} pages, {ran} commands, {len(problems)} problems"]))
    return bool(problems) or not pages or not only and not links and ran < LEAST_COMMANDS


sys.exit(main(*sys.argv[1:]))
