"""A few recommendations on small grounds, and figures that nobody measured."""

import pytest
from support.specs import SPEC

from wblab.trial.advice import read_wisdom
from wblab.trial.measured import Measured
from wblab.trial.plan import trial_matrix

SMALL = """
[machine]
memory = "16GiB"
write_bps = "100MB/s"
[ground.small]
base = "{folder}/small.toml"
title = "small"
about = "a small one"
disk = "disk"
set = ["trace.events=[]"]
loads = {{ innocent = ["w1", "mw1"], offender = ["l1"] }}
[[advice]]
number = 1
who = "A"
source = "there"
says = "less"
contradicts = [2]
value = [{{ name = "600 MiB", sysctl = {{ "vm.dirty_bytes" = 629145600, "vm.dirty_background_bytes" = "300MiB" }} }}]
[[advice.promise]]
says = "shorter"
role = "innocent"
metric = "longest_pause_s"
percent = 90
[[advice.promise]]
says = "never over 1 s"
role = "innocent"
metric = "longest_pause_s"
at_most = "1s"
[[advice]]
number = 2
who = "B"
source = "elsewhere"
says = "more"
[[advice.value]]
name = "more"
sysctl = {{ "vm.dirty_ratio" = 40 }}
[[advice.value]]
name = "WBT"
queue = {{ wbt_lat_usec = 75000 }}
[[advice.promise]]
says = "faster"
role = "offender"
metric = "throughput_bps"
percent = 105
of = ["more"]
"""


@pytest.fixture
def write_wisdom(tmp_path):
    """Write recommendations, with a text replaced by another."""
    (tmp_path / "small.toml").write_text(SPEC.replace('events = ["writeback:*"]', "events = []"))

    def write(old: str = "", new: str = ""):
        text = SMALL.format(folder=tmp_path)
        assert old in text
        path = tmp_path / "wisdom.toml"
        path.write_text(text.replace(old, new) if old else text)
        return path

    return write


@pytest.fixture
def wisdom(write_wisdom):
    return read_wisdom(write_wisdom())


@pytest.fixture
def matrix(wisdom):
    return trial_matrix(wisdom)


@pytest.fixture
def pretend(wisdom, matrix, tmp_path):
    """Return what was measured: longest pauses of mw1 and rates of l1, by seed, of each value and scaling."""

    def make(pauses: dict, rates: dict | None = None) -> Measured:
        figures = {}
        for cell in matrix.cells:
            key = (cell.levels["advice"], cell.levels["scaling"])
            if cell.levels["ground"] != "small":
                continue
            longest = pauses.get(key, pauses["default", "as it is"])
            fast = (rates or {}).get(key, [1e6] * len(longest))
            figures[cell.name] = {
                seed: {
                    ("w1", "longest_pause_s"): 0.01,
                    ("mw1", "longest_pause_s"): pause_s,
                    ("l1", "throughput_bps"): rate,
                    ("l1", "unplug_s"): 2.0,
                }
                for seed, (pause_s, rate) in enumerate(zip(longest, fast, strict=True), start=1)
            }
        return Measured(wisdom, tmp_path, figures)

    return make
