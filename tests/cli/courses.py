"""Codes that someone makes to do harm, and what becomes of them; the data in a course's page.

courses.py tirc1 COURSE       codes, one a line
courses.py verdicts FILE      whether what --verify --json says of them is right
courses.py page FILE          the exercises in a page
"""
import base64, gzip, json, pathlib, re, sys


def code(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return "tirc1." + base64.urlsafe_b64encode(gzip.compress(data)).decode().rstrip("=") + "."


def hostile(course):
    title = (course / "README.md").read_text().split("\n")[0].lstrip("# ")
    of = lambda **schedules: {"course": title, "edition": "0", "schedules": {n.replace("_", "-"): s for n, s in schedules.items()}}
    first = "_01_two_threads".lstrip("_")
    yield "endless", of(**{first: "while True:\n    pass\n"})
    yield "memory", of(**{first: "x = [0]\nwhile True:\n    x = x + x\n"})
    yield "reads", of(**{first: "x = read_json(\"../../../etc/passwd\")\n"})
    yield "imports", of(**{first: "from exercise import x\n"})
    yield "prints", of(**{first: "print(\"\\033[2J\")\nraise ValueError(\"\\033[2J</script>\")\n"})
    yield "unrolled", of(**{first: "i, j = sch.get_loops(\"B\")\nsch.unroll(i)\nsch.unroll(j)\n"})
    yield "deep", of(**{first: "x = " + "(" * 5000 + "1" + ")" * 5000})
    yield "unknown", {"course": title, "edition": "0", "schedules": {"../../x": "pass"}}
    yield "shapes", {"course": title, "edition": "0", "schedules": ["pass"]}
    yield "numbers", {"course": title, "edition": "0", "schedules": {"01-two-threads": 7}}
    yield "nested", b"[" * 100000
    yield "bomb", b" " * 50000000 + b"{}"
    yield "behind", None


def main():
    what, path = sys.argv[1], sys.argv[2]
    if what == "tirc1":
        for name, data in hostile(pathlib.Path(path)):
            print("%s: %s" % (name, code(data) if data is not None else code({})[:-1] + "AAAA."))
    elif what == "verdicts":
        rows = {r["from"]: r for r in map(json.loads, open(path))}
        run = {"endless", "memory", "reads", "imports", "prints", "unrolled", "deep"}
        refused = {name for name, r in rows.items() if "refused" in r}
        results = {name: r["exercises"][0]["result"] for name, r in rows.items() if "refused" not in r}
        assert set(rows) == {name for name, _ in hostile(pathlib.Path("../../examples/course"))}, rows.keys()
        assert refused == set(rows) - run, refused
        assert all(result in ("error", "not yet") for result in results.values()), results
        assert not any("root:" in json.dumps(r) for r in rows.values())
        assert all(rows[name]["same_edition"] is False for name in run)
        print("as expected")
    else:
        text = sys.stdin.read() if path == "-" else open(path).read()
        data = json.loads(re.search(r'<script type="application/json" id="(?:data|examples)">(.*?)</script>', text, re.S)[1])
        data = data.get("course", data)
        print("%d exercises, %d solutions" % (len(data["exercises"]), sum("solution" in x for x in data["exercises"])))


main()
