# A profile of two_nests.tir from standard input: what is in it that does not depend on the clock.
import json
import sys

p = json.load(sys.stdin)
parts = p["parts"]
timed = [part for part in parts if part["timed"]]
print(", ".join(part["name"] for part in parts))
print("timed", ", ".join(part["name"] for part in timed))
print("times", ", ".join(f"{part['times']:g}" for part in timed))
whole, own = parts[0]["seconds"], sum(part["own_seconds"] for part in timed)
print("sums", "ok" if abs(own - whole) <= 0.02 * whole else f"{own} {whole}")
print(f"bytes {parts[0]['bytes_read']} {parts[0]['bytes_written']}, operations {parts[-1]['float_ops']:g}")
