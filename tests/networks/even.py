"""How evenly the loops of networks are shared by threads, by counting: even.py TIRC [--threads 2,3,4,16,64] MODEL.onnx... [-D NAME=VALUE...] [--in NAME=VALUE...]

A row for each network: the share of the threads' time in which they work, of all calls together, as `bench --profile` computes it
from counts; and the function with the most idle time of the last number of threads. It needs no idle machine."""
import argparse
import json
import os
import subprocess
import sys


def profile(tirc, path, threads, options):
    command = [tirc, "bench", path, "--profile", "--threads", str(threads), "--seconds", "0.01", "--attempts", "1", "--figures", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[2, 3, 4, 16, 64])
    parser.add_argument("-D", action="append", default=[])
    parser.add_argument("--in", action="append", default=[], dest="extents", help="an extent that stays open in the code")
    o = parser.parse_args()
    print("| network |", " | ".join("%d threads" % n for n in o.threads), "| most idle |")
    print("|---" * (len(o.threads) + 2) + "|")
    for path in o.models:
        options = [w for word, given in (("-D", o.D), ("--in", o.extents)) for d in given for w in (word, d)]
        found = [profile(o.tirc, path, n, options) for n in o.threads]
        idle = max((f for f in found[-1]["functions"] if "busy" in f), key=lambda f: f["idle_cycles"])
        print("|", os.path.basename(path), "|", " | ".join("%.0f %%" % (100 * f["busy"]) for f in found),
              "| %s, %d %% |" % (idle["function"], 100 * idle["busy"]), flush=True)


main()
