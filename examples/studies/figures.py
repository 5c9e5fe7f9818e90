"""What `tirc results --json` has, as a table of pandas: medians in milliseconds, a row a setting, a column a contender.

    tirc results --database bench.db --json | python3 figures.py
"""

import json
import sys

import pandas

results = pandas.json_normalize(json.load(sys.stdin)["results"])
ran = results[results["code"].isna()]
sizes = [c for c in ran.columns if c.startswith("setting.")]
print((1e3 * ran.pivot_table("median_s", sizes + ["threads"], "contender")).round(4).to_string())
print(int(ran["busy"].sum()), "of", len(ran), "were measured on a busy machine")
