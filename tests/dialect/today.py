"""Cases in 0.20's spelling, written again in that of the releases since 0.24.

    today.py FROM OUT [--as-is]

FROM is a case, a folder of cases, a .json of programs by name or a .jsonl of sequences; OUT gets the same
names. The words are this script's own, so that a run of the written cases holds the reader's table to it.
Texts that are not part of the input (message, diagnostic) are left out. --as-is changes no word: recorded cases
with their notes become such as run_cases takes.
"""

import json
import os
import re
import sys

WORDS = [  # of programs, in this order
    (r"\bT\.alloc_buffer\(", "T.sblock_alloc_buffer("),
    (r"\bT\.decl_buffer\((?![^\n]*\bdata=)", "T.alloc_buffer("),
    (r"\bT\.block\(", "T.sblock("),
    (r"\bT\.block_attr\(", "T.sblock_attr("),
    (r"\bT\.LetStmt\(", "T.bind("),
    (r"(?m)^(\s*\w+): T\.(\w+) = ", r"\1: T.let[T.\2] = "),
    (r'(["\'])tir\.(\w+)\1(?=\s*:)', r"\1tirx.\2\1"),
    (r"@T\.prim_func\(private=True\)", "@T.prim_func(private=True, s_tir=True)"),
    (r"@T\.prim_func(?!\()", "@T.prim_func(s_tir=True)"),
    (r"\bfrom tvm\.script import tir as T\b", "from tvm.script import tirx as T"),
]
METHODS = [  # of schedules
    (r"\bget_block\(", "get_sblock("),
    (r"\bget_block_scope\(", "get_sblock_scope("),
    (r"\btransform_block_layout\(", "transform_sblock_layout("),
    (r"\breorder_block_iter_var\(", "reorder_sblock_iter_var("),
    (r"\btvm\.tir\.(?=Schedule|TensorIntrin)", "tvm.s_tir."),
    (r"\btir\.(?=IndexMap|Block\b)", "tirx."),
]
KEYS = ("title", "primitive", "verdict", "fails-at-call", "code", "reference-fault")
PARTS = ("program", "schedule", "result", "why", "forbidden", "nothing-to-run", "fixed", "fixed-program")
SCRIPTS = ("schedule", "fixed")


def respell(text, rules):
    for pattern, word in rules:
        text = re.sub(pattern, word, text)
    return text


def program(text):
    return respell(text, WORDS)


def script(text):
    return respell(text, WORDS + METHODS)


def case(text):
    parts = re.split(r"(?m)^--- ([\w-]+)\n", text)
    out = [line + "\n" for line in parts[0].splitlines() if line.split(":")[0] in KEYS]
    if "\nreference: " in parts[0]:  # where the reference itself is at fault
        out.append("reference-fault: yes\n")
    for name, body in zip(parts[1::2], parts[2::2]):
        if name in PARTS:
            out.append("--- %s\n%s" % (name, (script if name in SCRIPTS else program)(body)))
    return "".join(out)


def sequence(line):
    one = json.loads(line)
    one["calls"] = [script(call) for call in one["calls"]]
    if one.get("result"):
        one["result"] = program(one["result"])
    one.pop("message", None)
    return json.dumps(one)


def write(source, target):
    with open(source) as f:
        text = f.read()
    if source.endswith(".jsonl"):
        text = "\n".join(sequence(line) for line in text.splitlines() if line.strip()) + "\n"
    elif source.endswith(".json"):
        text = json.dumps({name: program(p) for name, p in json.loads(text).items()})
    else:
        text = case(text)
    with open(target, "w") as f:
        f.write(text)


def main(source, out):
    os.makedirs(out, exist_ok=True)
    if not os.path.isdir(source):
        return write(source, os.path.join(out, os.path.basename(source)))
    for name in sorted(os.listdir(source)):
        if name.endswith(".case"):
            write(os.path.join(source, name), os.path.join(out, name))


if __name__ == "__main__":
    if "--as-is" in sys.argv:
        sys.argv.remove("--as-is")
        WORDS, METHODS = [], []
    main(*sys.argv[1:])
