#!/usr/bin/env python3
"""Which room may use which: rooms.py LIST SOURCE_ROOT [LIBRARY.a FOLDER]

LIST (rooms.txt) has a line a room: `room: what it may use`. A room is a folder; `+room` stands for that
room and all that it may use itself. Checked are the includes of every C file and header, and the symbols
that the objects of the library take from each other, and those of the command, which are in FOLDER. Exit
status 1 names each arrow that is not allowed, a room that is not in the list, one of the list that there is
not, and a line that allows what nobody needs any more.
"""
import glob
import os
import re
import subprocess
import sys

ENDINGS = (".c", ".h", ".def", ".l", ".y")
# Headers that are no room's inside: what the library offers to everybody.
PUBLIC = ("runtime/tirc.h", "runtime/tirc/", "runtime/tirc_dlpack.h", "runtime/kernel/runtime_abi.h")


def read_list(path):
    named, closed = {}, {}
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, _, rest = line.partition(":")
        room = room.strip()
        allowed = set()
        for word in rest.split():
            if word.startswith("+"):
                if word[1:] not in closed:
                    sys.exit("%s:%d: %s stands below, or nowhere" % (path, number, word[1:]))
                allowed |= closed[word[1:]] | {word[1:]}
            else:
                allowed.add(word)
        if room in closed:
            sys.exit("%s:%d: %s stands twice" % (path, number, room))
        closed[room] = allowed
        named[room] = {w for w in rest.split() if not w.startswith("+")}
    return named, closed


def sources(root, tops):
    for top in tops:
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith(ENDINGS):
                    yield os.path.relpath(os.path.join(folder, name), root)


def include_arrows(root, files):
    known = set(files)
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                found = re.match(r'\s*#\s*include "([^"]+)"', line)
                if not found:
                    continue
                tries = [os.path.normpath(os.path.join(os.path.dirname(path), found[1])), found[1],
                         os.path.join("runtime", found[1])]
                target = next((t for t in tries if t in known), None)
                if target and not target.startswith(PUBLIC):
                    yield path, target, "%s:%d includes %s" % (path, number, target)


def symbol_arrows(objects, files, top=""):
    by_object = {path[len(top):].replace("/", "_"): path for path in files if path.endswith(".c")}
    defined, used = {}, []
    member = None
    listing = subprocess.run(["nm", *objects], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        if line.endswith(".o:"):
            name = os.path.basename(line[:-1])[:-2]
            generated = re.match(r"meson-generated_\.\._(.*)", name)
            member = by_object.get(name) or (generated and generated[1].replace("_", "/", 1))
            if member and "/" not in member:  # made of somebody else's schema: in no room
                member = None
            continue
        parts = line.split()
        if len(parts) < 2 or not member:
            continue
        kind, symbol = parts[-2], parts[-1]
        if kind == "U":
            used.append((member, symbol))
        elif kind in "TDRBVC":
            defined[symbol] = member
    for user, symbol in used:
        if symbol in defined:
            yield user, defined[symbol], "%s uses %s of %s" % (user, symbol, defined[symbol])


def main():
    list_path, root = sys.argv[1], sys.argv[2]
    named, closed = read_list(list_path)
    files = list(sources(root, ("ir", "parser", "passes", "codegen", "runtime", "tools")))
    arrows = list(include_arrows(root, files))
    if len(sys.argv) > 3:
        arrows += symbol_arrows([sys.argv[3]], files)
        arrows += symbol_arrows(sorted(glob.glob(sys.argv[4] + "/*.o")), [f for f in files if f.startswith("tools/")], "tools/")
    faults, seen = [], set()
    rooms = {os.path.dirname(path) for path in files if not path.startswith(PUBLIC)}
    for room in sorted(rooms - set(closed)):
        faults.append("%s is in no line of %s" % (room, os.path.basename(list_path)))
    for room in sorted((set(closed) | set().union(*named.values())) - rooms):
        faults.append("%s is in %s, and there is no such room" % (room, os.path.basename(list_path)))
    for user, target, what in arrows:
        a, b = os.path.dirname(user), os.path.dirname(target)
        if a == b or a not in closed:
            continue
        seen.add((a, b))
        if b not in closed[a]:
            faults.append("%s may not use %s: %s" % (a, b, what))
    if len(sys.argv) > 3:
        for room, allowed in named.items():
            for other in sorted(allowed):
                if (room, other) not in seen:
                    faults.append("%s uses nothing of %s: take it out of the list" % (room, other))
    for fault in sorted(set(faults)):
        print(fault)
    print("%d rooms, %d arrows between them, %d faults" % (len(rooms), len(seen), len(set(faults))))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
