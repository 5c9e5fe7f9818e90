"""ceiling.py FILE: what `tirc bench --threads 1,2 --json FILE` says of shares of the FMA ceiling and of
scaling follows from its medians."""

import json
import math
import sys

figures = json.load(open(sys.argv[1]))
rows, shares, scalings = figures["results"], 0, 0


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def find(contender, threads, kernel="all", setting=None):
    return [r for r in rows if r["contender"] == contender and r["threads"] == threads
            and kernel in ("all", r["kernel"]) and setting in (None, r["setting"])]


for r in rows:
    ceiling, = find("FMA ceiling", r["threads"], r["kernel"], r["setting"])
    operations = r["gflops"] * r["median_s"]
    peak = figures["machine"]["peak_gflops"][str(r["threads"])]
    low, high = r["percent_of_peak_95"]
    assert close(r["percent_of_peak"], 100 * ceiling["median_s"] / r["median_s"]), r
    assert low <= high and close(r["percent_of_best_peak"], 100 * r["gflops"] / peak), r
    assert operations / ceiling["min_s"] <= peak * (1 + 1e-9), r
    shares += "is_ceiling" not in r
for s in figures["summary"]:
    mine = find(s["contender"], s["threads"], s["kernel"])
    assert close(s["percent_of_peak"], mean([r["percent_of_peak"] for r in mine])), s
    assert close(s["percent_of_best_peak"], mean([r["percent_of_best_peak"] for r in mine])), s
    if s["threads"] == 1:
        assert "geomean_to_threads" not in s, s
        continue
    scaling = s["geomean_to_threads"]["1"]
    ratios = [find(r["contender"], 1, r["kernel"], r["setting"])[0]["median_s"] / r["median_s"] for r in mine]
    assert close(scaling["ratio"], mean(ratios)) and close(scaling["lowest"], min(ratios)), s
    scalings += 1
print("%d rows, %d means, %d scalings" % (shares, len(figures["summary"]), scalings))
