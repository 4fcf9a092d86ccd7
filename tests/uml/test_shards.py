"""Parts of a study, one of them killed: no run is lost or counted twice, and a part made again is the same."""

import json

from support.midway import killed

from wblab.cli import main
from wblab.study.made import made_of
from wblab.study.store import Store

MATRIX = """
base = "base"
seeds = 4
[set]
"trace.events" = []
"load.l1.size" = "4MiB"
"load.l2.size" = "4KiB"
[axes]
"disk.scheduler" = ["none", "bfq"]
"""


def test_a_killed_part_is_resumed_merged_and_audited(lab, tmp_path, monkeypatch, capsys):
    (tmp_path / "matrix.toml").write_text(MATRIX)
    monkeypatch.chdir(tmp_path)
    kernel = ["--kernel", str(lab.kernel.path)]

    def part(number: int, place: str) -> list[str]:
        (tmp_path / place).mkdir()
        where = ["--exp", str(tmp_path / place), "--jobs", "1"]
        return ["study", "matrix.toml", "--shard", f"{number}/2", "--keep", "digests", *where, *kernel]

    first = killed(part(1, "one"), tmp_path / "one", 1, lab.left_behind)
    before = {made.name: made.digest for made in made_of(Store.open(first))}
    assert 1 <= len(before) < 4
    assert main(["study", "--resume", str(first), "--jobs", "1", *kernel]) == 0
    after = {made.name: made.digest for made in made_of(Store.open(first))}
    assert len(after) == 4
    assert after.items() >= before.items()
    assert main(part(2, "two")) == 0
    assert main(part(1, "again")) == 0  # on another machine, as the killed one seemed lost
    parts = [str(next((tmp_path / place).iterdir())) for place in ("one", "two", "again")]
    capsys.readouterr()

    assert main(["study", "--merge", *parts, "--exp", str(lab.results), "--json"]) == 0
    merged = json.loads(capsys.readouterr().out)
    assert merged["missing"] == 0
    whole = {made.name: made.digest for made in made_of(Store.open(lab.results / merged["directory"]))}
    assert len(whole) == 8
    assert whole.items() >= after.items()

    audit = ["repeat", merged["directory"], "--share", "40%", "--exp", str(tmp_path / "audit"), "--json", *kernel]
    assert main(audit) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["compared"], found["identical"], found["different"], found["rate"]) == (3, 3, {}, 1.0)
    assert lab.left_behind() == []
