"""A trial of a few recommendations on a small scenario, and figures that nobody measured."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.specs import SPEC
from wblab.claims.trial.measured import TrialFigures
from wblab.claims.trial.recommendations import Wisdom
from wblab.study.plan import Plan

SMALL = """
[machine]
memory = "16GiB"
write_bps = "100MB/s"
[scenario.small]
base = "{folder}/small.toml"
title = "small"
about = "a small one"
disk = "disk"
set = ["trace.events=[]"]
loads = {{ innocent = ["w1", "mw1"], offender = ["l1"] }}
[[recommendation]]
number = 1
who = "A"
source = "there"
says = "less"
contradicts = [2]
value = [{{ name = "600 MiB", sysctl = {{ "vm.dirty_bytes" = 629145600, "vm.dirty_background_bytes" = "300MiB" }} }}]
[[recommendation.expectation]]
says = "shorter"
role = "innocent"
metric = "longest_pause_s"
percent = 90
[[recommendation.expectation]]
says = "never over 1 s"
role = "innocent"
metric = "longest_pause_s"
at_most = "1s"
[[recommendation]]
number = 2
who = "B"
source = "elsewhere"
says = "more"
[[recommendation.value]]
name = "more"
sysctl = {{ "vm.dirty_ratio" = 40 }}
[[recommendation.value]]
name = "WBT"
queue = {{ wbt_lat_usec = 75000 }}
[[recommendation.expectation]]
says = "faster"
role = "offender"
metric = "throughput_bps"
percent = 105
of = ["more"]
"""


def short_scenario(*settings: str) -> str:
    """Return how a file of recommendations begins whose one scenario takes seconds to run, with further settings."""
    sizes = ("load.l1.size=8MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=2s")
    return f"""
[machine]
memory = "16GiB"
write_bps = "100MB/s"
[scenario.short]
base = "base-device"
title = "short"
about = "short runs"
disk = "disk"
set = {json.dumps([*settings, *sizes])}
loads = {{ innocent = ["w1", "mw1"], offender = ["l1"] }}
"""


Place = tuple[str, str]  # key of a value, and its scaling


def small_trial(folder: Path, old: str = "", new: str = "") -> Path:
    """Write the recommendations into a folder, with a text replaced by another, and return their file."""
    (folder / "small.toml").write_text(SPEC.replace('events = ["writeback:*"]', "events = []"))
    text = SMALL.format(folder=folder)
    assert old in text
    path = folder / "wisdom.toml"
    path.write_text(text.replace(old, new) if old else text)
    return path


def pretended(
    wisdom: Wisdom,
    matrix: Plan,
    runs: Path,
    pauses: Mapping[Place, Sequence[float]],
    rates: Mapping[Place, Sequence[float]] | None = None,
) -> TrialFigures:
    """Return what was measured: longest pauses of mw1 and rates of l1, by seed, of each value and scaling."""
    figures = {}
    for cell in matrix.cells:
        key = (str(cell.levels["recommendation"]), str(cell.levels["scaling"]))
        if cell.levels["scenario"] != "small":
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
    return TrialFigures(wisdom, runs, figures)
