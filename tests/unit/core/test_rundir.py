import json

import numpy as np

from wblab.core import rundir
from wblab.core.cycles import stamps_for
from wblab.core.loads import Control, Load
from wblab.core.tables import from_table


def test_a_load_is_written_in_the_documented_format(tmp_path):
    load = Control(idle=5)
    stamps = stamps_for(load)
    for time_ns in (10, 20, 31):
        stamps.append(time_ns)
    rundir.write_load(tmp_path, "c1", load, 7, stamps)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["load.c1.json", "load.c1.npy"]
    assert np.load(tmp_path / "load.c1.npy", allow_pickle=False).tolist() == [10, 20, 31]
    record = json.loads((tmp_path / "load.c1.json").read_text())
    assert list(record) == ["name", "kind", "parameters", "pid", "unit", "cycles", "end", "error", "status", "dropped"]
    assert (record["name"], record["kind"], record["pid"], record["unit"]) == ("c1", "control", 7, "ns")
    assert record["cycles"] == 2
    assert from_table(Load, record["parameters"], exact=True) == load


def test_a_load_that_never_began_has_no_cycles(tmp_path):
    load = Control(idle=5)
    rundir.write_load(tmp_path, "c1", load, 7, stamps_for(load))
    assert json.loads((tmp_path / "load.c1.json").read_text())["cycles"] == 0
    assert np.load(tmp_path / "load.c1.npy").tolist() == []
