"""wblab twin on a real lock-up: of a machine that is a guest itself, whose disk is slow and where root is us."""

import json

from wblab.cli import main

KIN = 5.0  # without an offender the same loads pause for a hundredth of this


def test_the_pauses_of_a_live_run_are_those_of_its_twin(shared_lab, capsys):
    live = "live_experiment.py --exp /run/wblab/scratch/left --dir /mnt/disk -- dd if=/dev/zero of=/mnt/disk/big bs=1K"
    script = f"{live} count=66560"
    outer = shared_lab.run(
        "base-device",
        "trace.events=[]",
        "load={c1={kind='control', idle='50ms'}}",
        f"load.go={{kind='command', wait='0s', argv={json.dumps(['sh', '-c', script])}}}",
    )
    (path,) = (outer.path / "left").iterdir()
    place = ("--exp", str(shared_lab.results), "--kernel", str(shared_lab.kernel.path))
    code = main(["twin", str(path), *place, "--seeds", "3", "--json"])
    output, errors = capsys.readouterr()
    assert code == 0, errors
    found = {(item["load"], item["metric"]): item for item in json.loads(output)["matches"]}
    assert found["mw1", "longest_pause_s"]["live"] > 2
    # A lock-up is one draw of a wide distribution, and another machine makes another draw.
    for item in found.values():
        assert min(item["twin"]) / KIN < item["live"] < max(item["twin"]) * KIN, item
