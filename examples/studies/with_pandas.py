#!/usr/bin/env python3
"""What `tirc results --json` prints, in pandas: a row for each contender, a column for each setting.

    tirc results --json | with_pandas.py [AGAINST]

Medians in milliseconds, or how many times as fast as the contender AGAINST. Results of a calm machine come first; a figure
with a * has only results of a busy machine. The frame `busy` says the same with True and False."""
import json
import sys

import pandas as pd

results = json.load(sys.stdin)["results"]
rows = [{**r["setting"], **{k: v for k, v in r.items() if k not in ("setting", "samples")}, "samples": len(r["samples"])}
        for r in results if not r["code"]]
table = pd.DataFrame(rows)
sizes = sorted({name for r in results for name in r["setting"]} - {"kernel"})

# The latest calm result of each contender in each setting, or else the latest.
keys = ["kernel", *sizes, "threads", "target", "machine", "contender"]
latest = table.iloc[::-1].sort_values("busy", kind="stable").drop_duplicates(keys) if len(table) else table
ms, busy = (latest.assign(ms=latest.median_s * 1e3).pivot(index=keys[:-1], columns="contender", values=of) for of in ("ms", "busy"))
busy = busy == True  # noqa: E712: a missing measurement is not busy
if len(sys.argv) > 1:
    ms = ms.rdiv(ms[sys.argv[1]], axis=0)
    busy = busy.apply(lambda column: column | busy[sys.argv[1]])
text = ms.apply(lambda column: column.map("{:.4g}".format)).where(ms.notna(), "-")
shown = text.where(~busy, text + "*")
print(shown.T.to_string())
if busy.to_numpy().any():
    print("* measured while other processes or a falling clock disturbed the machine")
