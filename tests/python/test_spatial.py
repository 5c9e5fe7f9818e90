"""What a program costs on an array of processing elements, in Python: the counts are the command's."""
import json
import pathlib

import pytest

import tirc

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ARRAY = {"array": {"dims": [8, 8], "bandwidth": 64, "item_bits": 16, "latency": 16}, "interconnect": "systolic"}


def mapped():
    sch = tirc.Schedule(tirc.read(str(ROOT / "examples/dataflow/matmul.tir")))
    i, j, k = sch.get_loops(sch.get_block("C"))
    io, ii = sch.split(i, factors=[None, 8])
    jo, ji = sch.split(j, factors=[None, 8])
    sch.reorder(io, jo, k, ii, ji)
    sch.bind(ii, "pe.x")
    sch.bind(ji, "pe.y")
    sch.annotate(k, "pe_skew", [1, 1])
    return sch.mod


def test_cost():
    cost = mapped().spatial_cost(ARRAY)
    assert (cost["time_stamps"], cost["tensors"]["read A"]["unique"], cost["energy"]) == (736, 4096, 706088.96)
    assert mapped().spatial_cost(json.dumps(ARRAY), bits=8)["ingress_delay"] == 1039
    with pytest.raises(tirc.TircError, match="has no \"dims\""):
        mapped().spatial_cost({"array": {}, "interconnect": "none"})


def test_search():
    found = tirc.read(str(ROOT / "examples/dataflow/matmul.tir")).spatial_search(ARRAY)
    assert found["best"][0]["cycles"] <= mapped().spatial_cost(ARRAY)["busy_latency"]


def test_log():
    assert tirc.spatial_log_cost([{"M": 7, "N": 7, "K": 7}], {**ARRAY, "array": {**ARRAY["array"], "dims": [16, 16]}})[
        "all"]["simulated_cycles"] == 35
    with pytest.raises(tirc.TircError, match="has no \"K\""):
        tirc.spatial_log_cost([{"M": 7, "N": 7}], ARRAY)
