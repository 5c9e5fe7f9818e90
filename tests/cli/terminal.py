"""`tirc repl` on a pseudo-terminal: what is typed, and what must be on the screen."""
import os, pty, re, select, signal, sys, time, tempfile

signal.alarm(120)
tirc, program = sys.argv[1:]
state = tempfile.mkdtemp()


def start():
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(XDG_STATE_HOME=state, TERM="xterm", NO_COLOR="1", LC_ALL="C.UTF-8")
        os.execv(tirc, [tirc, "repl", program])
    return pid, fd


def read_until(fd, wanted, seconds=60):
    seen, end = "", time.time() + seconds
    while time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
        if re.search(wanted, seen):
            return seen
    sys.exit(f"no {wanted!r} in {seen!r}")


def enter(fd, keys, wanted):
    os.write(fd, keys.encode())
    return read_until(fd, wanted)


def leave(pid, fd, keys="\x04"):
    """Types `keys`, and what they print is read, as a terminal does, until the session hangs up.
    Ending takes a while after that; one that never ends is the alarm's."""
    seen = b""
    os.write(fd, keys.encode())
    while True:
        try:
            seen += os.read(fd, 65536)
        except OSError:
            break
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    if status:
        sys.exit(f"exit status {status} after {seen!r}")
    return seen.decode(errors="replace")


pid, fd = start()
read_until(fd, "tirc> ")
enter(fd, "i, jj, k = sch.get_loops(\"C\")\n", r"Looks up the loops[^$]*tirc> ")
enter(fd, "sch.vec\t", r"torize\(")
enter(fd, "j\tk)\x7f\x7f)\n", r"side by side[^$]*\+ +for j in T\.vectorized\(16\)[^$]*tirc> ")
enter(fd, "sch.vectorize(k)\n", r"not-data-parallel[^$]*tirc> ")
enter(fd, "sch.spl\tk, fac\t[2, 4])\n", r"Splits loop k[^$]*tirc> ")
enter(fd, "sch.get_block(\"\t", r"root +C[^$]*tirc> ")
enter(fd, "\x03", r"\^C[^$]*tirc> ")
enter(fd, "if True:\n", r"\.\.\. ")
enter(fd, "\tprint(\"in\" + \"side\")\n\n", r"\ninside[^$]*tirc> ")
enter(fd, "un\t\n", r"undo: if True:[^$]*tirc> ")
leave(pid, fd)
lines = open(state + "/tirc/history").read()
if "vectorize(jj)" not in lines.replace("\\040", " ") or lines.count("undo") != 1:
    sys.exit(f"the history is {lines!r}")
pid, fd = start()
read_until(fd, "tirc> ")
enter(fd, "\x1b[A", "undo")  # the arrow key
enter(fd, "\n", r"0 lines to undo[^$]*tirc> ")
leave(pid, fd)
open(state + "/tirc/history", "w").write("no history at all\n")
pid, fd = start()
read_until(fd, r"no history is kept[^$]*tirc> ")
enter(fd, "1 + 1\n", r"\n2\r[^$]*tirc> ")
leave(pid, fd)
if open(state + "/tirc/history").read() != "no history at all\n":
    sys.exit("another's file was written to")
for keys, wanted in [
    ("\x04", r"tirc> (\^D)?\r\n$"),
    ("1 + 1\n\x04never\n", r"\n2\r\ntirc> (\^D)?\r\n$"),  # ^D: it came when the editor was ready
]:
    seen = leave(*start(), keys)  # typed ahead: before there is a prompt
    if not re.search(wanted, seen):
        sys.exit(f"{keys!r} typed ahead gives {seen!r}")
pid, fd = start()
read_until(fd, "tirc> ")
enter(fd, "\x001 + 1\n", r"\n2\r[^$]*tirc> ")  # Ctrl-Space does not end it
leave(pid, fd)
print("all as expected")
