"""ceiling.py FILE: what `tirc bench --threads 1,2 --figures FILE` says of shares of the ceilings, of traffic, of
disturbances and of scaling follows from its medians."""

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


def interval(values, *of):
    """Of fewer than five turns nothing is sure: from 0, without an end."""
    low, high = values
    assert high is not None or low == 0 and min(r["turns"] for r in of) < 5, (values, of)
    return low, math.inf if high is None else high


for r in rows:
    fma, = find("FMA ceiling", r["threads"], r["kernel"], r["setting"])
    bandwidth, = find("bandwidth ceiling", r["threads"], r["kernel"], r["setting"])
    binding = max(fma, bandwidth, key=lambda c: c["median_s"])
    operations = fma["gflops"] * fma["median_s"]
    peak = figures["machine"]["peak_gflops"][str(r["threads"])]
    least = operations / peak if binding is fma else bandwidth["min_s"]
    low, high = interval(r["percent_of_peak_95"], r, binding)
    assert r["binding_ceiling"] == binding["contender"], r
    assert close(r["percent_of_peak"], 100 * binding["median_s"] / r["median_s"]), r
    assert low <= high and close(r["percent_of_best_peak"], 100 * least / r["median_s"]), r
    assert operations / fma["min_s"] <= peak * (1 + 1e-9), r
    if r is not fma:
        assert close(r["gbytes_per_s"] * 1e9 * r["median_s"], r["bytes_read"] + r["bytes_written"]), r
    if r is not bandwidth:
        assert close(r["gflops"] * r["median_s"], operations), r
    assert ("gflops" in r) + ("gbytes_per_s" in r) == 2 - ("is_ceiling" in r), r
    assert ("above_100_percent" in r) == ("is_ceiling" not in r and r["percent_of_peak"] >= 100.05), r
    same = [s for s in rows if (s["kernel"], s["setting"], s["threads"]) == (r["kernel"], r["setting"], r["threads"])]
    intervals = [interval(s["median_s_95"], s) for s in same]
    uncertainty = max([(high - low) / 2 / s["median_s"] for s, (low, high) in zip(same, intervals) if high < math.inf], default=0)
    assert r["disturbed"] == ["load"] * (r["other_load_cores"] > 0.1) + ["clock"] * (r["clock_drop"] > 0.1) \
        + ["uncertainty"] * (uncertainty > 0.2), r
    assert r["attempts"] == 3 if r["disturbed"] else 1 <= r["attempts"] <= 3, r
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
