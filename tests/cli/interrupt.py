"""A `tirc bench` of one setting, with Ctrl-C when its line of progress, which only a terminal gets, matches a
pattern, on the slowest machine: ends as the bench does. Usage: interrupt.py PATTERN TIRC bench ..."""
import os, pty, re, signal, subprocess, sys

signal.alarm(250)
terminal, other_end = pty.openpty()
bench = subprocess.Popen(sys.argv[2:], stderr=other_end)
os.close(other_end)
seen, sent = b"", False
while True:  # to its end: what it prints must not stop it
    try:
        seen += os.read(terminal, 65536)
    except OSError:  # it hung up
        break
    if not sent and re.search(sys.argv[1].encode(), seen):
        bench.send_signal(signal.SIGINT)
        sent = True
sys.exit(bench.wait())
