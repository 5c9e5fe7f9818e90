#!/usr/bin/env python3
"""One page of results of this machine, beside those that others are measured by.

    results.py [--quick] [--only PARTS] [--write FOLDER] [--page FILE] [--tirc COMMAND] [-D NAME=VALUE] ...

It runs all of it: BERT's products with the schedules of a published study of TVM, OpenBLAS and oneDNN (results.study);
products of any shape and operators of real networks beside oneDNN (processors.study); networks beside ONNX Runtime; a
decoder of GPT-2's shape beside llama.cpp. FOLDER (results) gets results.md, the reports of the studies, and a database, so
that the same command goes on after an interruption. --page writes the page to FILE, too, without links into FOLDER. Losses have a part of their own. What is not installed is named and
left out:

    OpenBLAS, oneDNN   Debian's libopenblas0-pthread and libdnnl-dev
    ONNX Runtime       tools/setup --onnxruntime, or $TIRC_ONNXRUNTIME; scripts of tests/networks write the networks, of
                       well-known structure with weights of a seed
    llama.cpp          no package of Debian: llama-bench of a build of one's own, in $PATH or $TIRC_LLAMA_BENCH; or
                       --llama FOLDER, where `npm i node-llama-cpp @node-llama-cpp/linux-x64 --ignore-scripts` ran

--quick takes a part of each, a few minutes. PARTS: products,processors,networks,decoder, or some of them. -D goes to the
studies that have such a line."""
import argparse
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NETWORKS = ROOT / "tests/networks"
PARTS = ["products", "processors", "networks", "decoder"]
STRUCTURES = ["resnet50", "mobilenet_v2", "efficientnet_b0", "unet", "vit"]


# --- running -------------------------------------------------------------------------------------------------------------


def call(words, **more):
    print("$", " ".join(str(w) for w in words), flush=True)
    return subprocess.run([str(w) for w in words], text=True, **more)


def has_line(path, name):
    return re.search(r"^%s *=" % re.escape(name), path.read_text(), re.M) is not None


def run_study(o, name):
    """What the study's report.json has, or why there is none."""
    path, to = HERE / (name + ".study"), o.write / name
    define = [w for d in o.define if has_line(path, d.partition("=")[0]) for w in ("-D", d)]
    done = call([o.tirc, "study", path, *(["--quick"] if o.quick else []), *define, "--database", o.write / "results.db", "--write", to],
                stderr=subprocess.PIPE)
    sys.stderr.write(done.stderr)
    if done.returncode in (0, 1) and (to / "report.json").exists():
        return json.loads((to / "report.json").read_text()), None
    return None, "`tirc study` ended with %d: %s" % (done.returncode, (done.stderr.strip().split("\n") or [""])[0])


def make_network(o, name):
    """Its file, or why there is none."""
    if name.endswith(".onnx"):
        path = pathlib.Path(name).resolve()
        return (path, None) if path.exists() else (None, "there is no such file")
    folder = o.write / "networks" / name
    if (folder / "model.onnx").exists():
        return folder / "model.onnx", None
    if not NETWORKS.exists():
        return None, "tests/networks is a part of the source tree only"
    made = call([sys.executable, NETWORKS / ("structures.py" if name in STRUCTURES else "networks.py"), name, folder], stderr=subprocess.PIPE)
    return (folder / "model.onnx", None) if made.returncode == 0 else (None, (made.stderr.strip().split("\n") or [""])[-1])


def run_network(o, name, threads):
    path, why = make_network(o, name)
    name = pathlib.Path(name).stem
    if why:
        return {"name": name, "threads": threads, "why": why}
    (o.write / "networks").mkdir(exist_ok=True)
    figures = o.write / "networks" / ("%s-%d.json" % (name, threads))
    words = [o.tirc, "bench", path, "--vs", "onnxruntime", "--threads", threads, "--target", "native", "--seconds",
             0.2 if o.quick else 2, "--attempts", 2, "--figures", figures]
    done = call(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not figures.exists() or done.returncode == 2:
        return {"name": name, "threads": threads, "why": (done.stderr.strip().split("\n") or [""])[0]}
    row = {"name": name, "threads": threads, **json.loads(figures.read_text())}
    figures.unlink()
    if done.returncode:
        row["differs"] = True
    if "vs" not in row:
        row["why"] = (done.stderr.strip().split("\n") or ["ONNX Runtime was not measured"])[0]
    return row


def find_llama(o):
    """How llama.cpp is run, or why it cannot be."""
    if not NETWORKS.exists():
        return None, "tests/networks, which writes its file of weights, is a part of the source tree only"
    program = os.environ.get("TIRC_LLAMA_BENCH") or shutil.which("llama-bench")
    if program:
        return ["--bench", program], None
    if o.llama and (o.llama / "node_modules/node-llama-cpp").exists():
        return [], None
    return None, "neither llama-bench (in $PATH or $TIRC_LLAMA_BENCH) nor --llama FOLDER with node-llama-cpp; Debian has no package of it"


def run_decoder(o):
    how, why = find_llama(o)
    if why:
        return {"why": why}
    folder = o.write / "decoder" if how else o.llama.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    figures = o.write / "decoder.json"
    words = [sys.executable, NETWORKS / "llama/beside.py", folder, "--kinds", "f32" if o.quick else "f32,q8_0,q4_0", "--turns", 1 if o.quick else 3,
             "--threads", 1, "--prompt", o.prompt, "--tokens", o.tokens, "--model", o.decoder, "--figures", figures, *how]
    library = pathlib.Path(shutil.which(o.tirc) or o.tirc).resolve().parents[1]
    paths = os.pathsep.join(filter(None, [str(ROOT / "tools/python"), os.environ.get("PYTHONPATH")]))
    env = {**({"TIRC_LIBRARY": str(library)} if (library / "libtirc.so").exists() else {}), **os.environ, "PYTHONPATH": paths}
    done = call(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    if done.returncode or not figures.exists():
        return {"why": (done.stderr.strip().split("\n") or [""])[-1]}
    return {"rows": json.loads(figures.read_text())}


# --- the page ------------------------------------------------------------------------------------------------------------


def ratio_text(value, interval, busy=False):
    """As many digits as the interval allows."""
    if not value:
        return "-"
    low, high = interval or (None, None)
    mark = " *" if busy else ""
    if low is None or high is None:
        return "%.2f%s" % (value, mark)
    half = max(high - value, value - low)
    digits = 3 if half <= 0 else max(2 if value < 10 else 0, min(3, 1 - math.floor(math.log10(half))))
    return "%.*f [%.*f, %.*f]%s" % (digits, value, digits, low, digits, high, mark)


def code(*words):
    return ["`%s`" % w for w in words] if len(words) > 1 else "`%s`" % words[0]


class Page:
    def __init__(self):
        self.lines, self.losses, self.absent = [], [], []

    def text(self, *paragraphs):
        for p in paragraphs:
            self.lines += [p, ""]

    def table(self, heads, rows, right=()):
        self.lines += ["| %s |" % " | ".join(heads), "|%s|" % "|".join("---:" if i in right else "---" for i in range(len(heads)))]
        self.lines += ["| %s |" % " | ".join(str(c).replace("|", "\\|") for c in row) for row in rows] + [""]

    def lose(self, what, peer, value, interval=None, busy=False):
        """A ratio below 1; surely slower is what has its whole interval there."""
        if value and value < 1:
            sure = "no interval" if not interval else "yes" if interval[1] is not None and interval[1] < 1 else "no"
            self.losses.append((value, what, peer, ratio_text(value, interval, busy), sure))


def where(row, several):
    threads = ", %d thread%s" % (row["threads"], "" if row["threads"] == 1 else "s") if several else ""
    if row["setting"]:
        return "%s%s" % (code("%s %s" % (row["kernel"], row["setting"])), threads)
    n = row["settings_in_all"]
    return "%s%s%s" % (code(row["kernel"]) if row["kernel"] else "all", ", geometric mean of %d" % n if n > 1 else "", threads)


def put_study(page, report, title, words):
    page.text("## " + title, words)
    names = {r["contender"] for t in report["tables"] for r in t["rows"]} | {a for t in report["tables"] for a in t["against"]}
    several = len({r["threads"] for t in report["tables"] for r in t["rows"]}) > 1
    for m in report["missing"]:
        page.absent.append("%s: %s" % (code(m["contender"]), code(m["install"])))
    if any("published" in r for t in report["tables"] for r in t["rows"]):
        page.text("A published ratio *carries over* if the whole 95 % interval measured here is on the same side of 1, whatever its size.")
    for t in report["tables"]:
        against = " or ".join(code(a) for a in t["against"])
        rows = [r for r in t["rows"] if r["ratio"]]
        for r in rows:
            if r["setting"] and t["ratio"] == "speed" and "ceiling" not in against:
                page.lose("%s: %s" % (where(r, several), code(r["contender"])), against, r["ratio"], r["interval"], r["busy"])
        if t["by"] == "setting" or not rows:
            continue
        kinds = [k for k in ("published", "expected") if any(k in r for r in rows)]
        share = "ceiling" in against
        heads = ["contender", "settings", ("share of the " if share else "times as fast as " if t["ratio"] == "speed" else "time against that of ") + against]
        page.text("**%s**" % " ".join(code(w) if w in names else w for w in t["title"].split(" ")))
        page.table(heads + [h for k in kinds for h in (k, "verdict")],
                   [[code(r["contender"]), where(r, several), ratio_text(r["ratio"], r["interval"], r["busy"])] +
                    [c for k in kinds for c in said_of(r.get(k))] for r in rows], right=(2, 3) if kinds else (2,))
        if t.get("note"):
            page.text(t["note"])
    busy, n = report["results_busy"], report["results"]
    page.text("%d of %d settings are measured. Of %d results, %d were taken while other processes or a falling clock disturbed the machine.%s" %
              (report["settings_measured"], report["settings"], n, busy, " A * marks rows that have only such results." if busy else ""))


def said_of(said):
    if not said:
        return ["", ""]
    low, high = said["low"], said["high"]
    figure = "%g" % low if low == high else "more than %g" % low if high is None else "less than %g" % high if low is None else "%g to %g" % (low, high)
    return [figure, said["verdict"] + (": " + said["why"] if said.get("why") else "")]


def put_networks(page, rows):
    page.text("## Networks beside ONNX Runtime",
              "tirc and ONNX Runtime run the same file with the same inputs and the same number of threads. They take turns in one process. Results "
              "are compared before anything is timed.")
    shown = []
    for r in rows:
        if "why" in r:
            shown.append([code(r["name"]), r["threads"], "-", "-", "left out: " + r["why"]])
            page.absent.append("%s on %d thread%s: %s" % (code(r["name"]), r["threads"], "" if r["threads"] == 1 else "s", r["why"]))
            continue
        vs = r["vs"]
        shown.append([code(r["name"]), r["threads"], "%.3f" % (1e3 * r["median_seconds"]), "%.3f" % (1e3 * vs["median_seconds"]),
                      ratio_text(vs["times_as_fast"], vs["times_as_fast_95"]) + (", **results differ**" if r.get("differs") else "")])
        page.lose("%s, %d thread%s" % (code(r["name"]), r["threads"], "" if r["threads"] == 1 else "s"), code("onnxruntime"), vs["times_as_fast"], vs["times_as_fast_95"])
    page.table(["network", "threads", "tirc, ms", "ONNX Runtime, ms", "times as fast"], shown, right=(1, 2, 3, 4))


def figure(v):
    """Four digits, or all before the point: no exponents of large numbers."""
    return "%.4g" % v if abs(v) < 1000 else "%.0f" % v


def put_decoder(page, found, o):
    page.text("## A decoder beside llama.cpp")
    if "why" in found:
        page.absent.append("llama.cpp: " + found["why"])
        page.text("Left out: %s." % found["why"])
        return
    page.text("GPT-2's shape with random weights: a prompt of %d tokens, then %d tokens more, on one thread. The two processes take turns; figures are "
              "medians of few turns, without intervals." % (o.prompt, o.tokens))
    rows = []
    for kind in dict.fromkeys(r["kind"] for r in found["rows"]):
        ours, theirs = (next(r for r in found["rows"] if r["kind"] == kind and r["who"] == who) for who in ("tirc", "llama.cpp"))
        for key, word, better in (("prefill_ms", "prompt, ms", -1), ("decode_tokens_per_second", "decode, tokens/s", 1)):
            ratio = (ours[key] / theirs[key]) ** better
            rows.append([code(kind), word, figure(ours[key]), figure(theirs[key]), "%.2f" % ratio])
            page.lose("decoder, %s: %s" % (code(kind), word), "llama.cpp", ratio)
    page.table(["weights", "", "tirc", "llama.cpp", "times as fast"], rows, right=(2, 3, 4))


def describe(reports):
    report = next((r for r in reports if r), None)
    if not report:
        return []
    environment = report.get("environment") or {}
    if "system" in environment:  # its name alone: which kernel it has, and who built that, says nothing of a ratio
        environment = {**environment, "system": environment["system"].split()[0]}
    return [["machine", code(report["machine"])]] + [code(k, v) for k, v in environment.items() if isinstance(v, (str, int, float)) and str(v)]


def write_page(o, found):
    page = Page()
    reports = [found.get(name, (None, None)) for name in ("products", "processors")]
    page.text("# Results of one machine",
              "`examples/studies/results.py%s` wrote this page on %s. The same command writes this page for your machine. A ratio above 1 means "
              "that tirc is faster. Brackets are 95 %% intervals. The section [Losses](#losses) lists every ratio below 1." %
              (" --quick" if o.quick else "", datetime.date.today()))
    known = [r for r, _ in reports if r]
    busy, n = sum(r["results_busy"] for r in known), sum(r["results"] for r in known)
    if 2 * busy > n:
        page.text("**The machine was busy**: other processes or a falling clock disturbed %d of %d results. Take no figure of this page for what "
                  "tirc or its peers can do." % (busy, n))
    machine = describe(known)
    if machine:
        page.table(["", ""], machine)
    titles = {"products": ("BERT's products, OpenBLAS, oneDNN, and a published study of TVM",
                           "These are products C = A B in float32, with the K and N of a BERT layer. `baseline`, `full` and `rule_based` are schedules of a published "
                           "study. It measured them with TVM on an i5-1235U and on 12 cores of an i7-13700; here tirc compiles them. `auto` is the "
                           "schedule that the rules make for the plain loops; `goto` is a schedule written by hand."),
              "processors": ("Products of any shape and operators of networks, beside oneDNN",
                             "`drawn` stands for products with random extents (drawn with a fixed seed). The other rows are operators of real networks; "
                             "oneDNN has some of these operators.")}
    for name, (report, why) in zip(("products", "processors"), reports):
        if report:
            put_study(page, report, *titles[name])
        elif why:
            page.text("## " + titles[name][0], "Left out: %s." % why)
    if "networks" in found:
        put_networks(page, found["networks"])
    if "decoder" in found:
        put_decoder(page, found["decoder"], o)
    page.text("## Losses")
    if page.losses:
        page.text("This table lists every ratio below 1, the largest loss first. A loss is *sure* if the whole interval is below 1.")
        page.table(["what", "beside", "times as fast", "sure"], [row[1:] for row in sorted(page.losses)], right=(2,))
    else:
        page.text("There are none: no ratio is below 1.")
    page.text("## What is absent")
    if page.absent:
        page.lines += ["- " + a for a in dict.fromkeys(page.absent)] + [""]
    else:
        page.text("Nothing: all that this page can compare with is installed.")
    alone = list(page.lines)
    links = ["[%s](%s/report.md)" % (n, n) for n in ("results", "processors") if (o.write / n / "report.md").exists()]
    if links:
        page.text("Each setting, all medians, figures and schedules: %s. Samples are in results.db (`tirc results --database results.db`)." % ", ".join(links))
    (o.write / "results.md").write_text("\n".join(page.lines).rstrip() + "\n")
    if o.page:
        o.page.write_text("\n".join(alone).rstrip() + "\n")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--write", type=pathlib.Path, default=pathlib.Path("results"))
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--tirc", default=os.environ.get("TIRC", "tirc"))
    parser.add_argument("--networks", help="of these alone: small_residual, small_attention, bert, %s; or files of your own, FILE.onnx" % ", ".join(STRUCTURES))
    parser.add_argument("--llama", type=pathlib.Path, help="a folder with node-llama-cpp")
    parser.add_argument("--decoder", type=pathlib.Path, default=ROOT / "examples/models/gpt2.tir", help="its text, as examples/models/gpt2.py writes it")
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE")
    o = parser.parse_args()
    parts = o.only.split(",")
    if set(parts) - set(PARTS):
        parser.error("--only takes %s" % ",".join(PARTS))
    if not shutil.which(o.tirc):
        parser.error("there is no command '%s': --tirc build/release/tools/tirc" % o.tirc)
    o.tirc, o.write = os.path.abspath(shutil.which(o.tirc)), o.write.resolve()
    o.write.mkdir(parents=True, exist_ok=True)
    unknown = [d for d in o.define if not any(has_line(HERE / f, d.partition("=")[0]) for f in ("results.study", "processors.study"))]
    if unknown:
        parser.error("-D %s: neither study has such a line" % unknown[0])
    found = {}
    if "products" in parts:
        found["products"] = run_study(o, "results")
    if "processors" in parts:
        found["processors"] = run_study(o, "processors")
    if "networks" in parts:
        names = o.networks.split(",") if o.networks else ["bert", *STRUCTURES[:2 if o.quick else None]]
        threads = [1] if o.quick or os.cpu_count() == 1 else [1, os.cpu_count()]
        found["networks"] = [run_network(o, name, n) for name in names for n in threads]
    if "decoder" in parts:
        found["decoder"] = run_decoder(o)
    page = write_page(o, found)
    print("%d loss%s, %d absent: %s" % (len(page.losses), "" if len(page.losses) == 1 else "es", len(dict.fromkeys(page.absent)), o.write / "results.md"))


main()
