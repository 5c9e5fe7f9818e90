#!/usr/bin/env python3
"""Runs tests in the form of the ONNX project's: folders with model.onnx, and input_N.pb and output_N.pb beside it or in
folders test_data_set_N (Debian's libonnx-testdata has those of release 1.12, in /usr/share/libonnx-testdata/data).

usage: folder.py TIRC FOLDER... [--json] [--seconds 60] [--jobs 2] [--only PART] [-- OPTION...]

A line a test that fails, with the reason; --json: one object a test. OPTIONs go to `tirc run`. Exit status 1: a test failed.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time


def reason_of(status, out, err):
    lines = [line for line in out.splitlines() if "FAILED" in line] or [line for line in err.splitlines() if "error:" in line]
    return (lines or [f"exit status {status}"])[0].split("error: ")[-1]


def run(tirc, folder, seconds, options):
    sets = [run_set(tirc, folder, data, seconds, options) for data in data_of(folder)]
    failed = [r for r in sets if not r["ok"]]
    return {**(failed or sets)[0], "seconds": round(sum(r["seconds"] for r in sets), 2)}


def data_of(folder):
    sets = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir() and entry.name.startswith("test_data_set"))
    return sets or [folder]


def run_set(tirc, folder, data, seconds, options):
    start = time.time()
    command = [tirc, "run", os.path.join(folder, "model.onnx"), "--test-data", data, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        reason = None if done.returncode == 0 else reason_of(done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired:
        reason = f"more than {seconds:g} s"
    return {"test": folder, "ok": reason is None, "reason": reason, "seconds": round(time.time() - start, 2)}


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    p.add_argument("tirc")
    p.add_argument("folder", nargs="+")
    p.add_argument("--json", action="store_true")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--only", default="")
    a = p.parse_args(own)
    found = sorted(at for top in a.folder for at, _, files in os.walk(top, followlinks=True) if "model.onnx" in files and a.only in at)
    if not found:
        sys.exit("folder.py: no model.onnx there")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for r in pool.map(lambda at: run(a.tirc, at, a.seconds, options), found):
            failed += not r["ok"]
            if a.json:
                print(json.dumps(r), flush=True)
            elif not r["ok"]:
                print(f"FAILED {r['test']}: {r['reason']}", flush=True)
    print(f"{len(found) - failed} of {len(found)} pass", file=sys.stderr if a.json else sys.stdout)
    sys.exit(failed > 0)


main()
