"""What cannot be run is refused in one line before anything boots."""

import pytest

from wblab.cli import main
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.on.world import Wanted, world

GOES_ON = ("--", "true")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sd-crad", *GOES_ON], "no disk 'sd-crad'"),
        (["sd-card"], "write the command behind --, as in 'wblab on sd-card -- pytest'"),
        (["sd-card", "true"], "'true' is no argument: write the command behind --, as in 'wblab ... -- true'"),
        (["sd-card", "--max-output", "much", *GOES_ON], "'much' is not understood"),
        (["sd-card", "--beside", "nobody", *GOES_ON], "--beside nobody: no preset has this name"),
        (["sd-card", "--keep", "/etc", *GOES_ON], "--keep /etc: give a path within the directory"),
        (["sd-card", "--dir", "/nowhere", *GOES_ON], "--dir /nowhere: there is no such directory"),
        (["sd-card", "--allow-read", "/nowhere", *GOES_ON], "--allow-read: there is no '/nowhere'"),
        (["sd-card", "--allow-read", "/tmp", *GOES_ON], "--allow-read /tmp: a guest has a /tmp of its own"),
        (["sd-card", "--set", "disk.speed=1", *GOES_ON], "unknown key 'disk.speed'"),
        (["two-disks", *GOES_ON], "two-disks has 2 disks: a program is run on a preset with one"),
        (["sd-card", "--crash-at", "1s", "--crash-after", "3", *GOES_ON], "power is lost once, give one of them"),
        (["sd-card", "--then", "true", *GOES_ON], "--then runs after a loss of power: add --crash-at or --crash-after"),
        (["sd-card", "--crash-at", "soon", *GOES_ON], "'soon' is not understood"),
        (["sd-card", "--stall-at", "3s", *GOES_ON], "say when and for how long, as in 3s:2s"),
        (["sd-card", "--crash-at", "1s", *GOES_ON], "need another kernel: wblab kernel build 7.2+programs"),
        (
            ["sd-card", "--error-at", "read:0", *GOES_ON],
            "give the number of a write, as in 40, or of a read, as in read:3",
        ),
        (["sd-card", "--torn", *GOES_ON], "--torn is about a loss of power: add --crash-at or --crash-after"),
        (["sd-card", "--torn", "--crash-at", "1s", *GOES_ON], "so nothing is torn: add --seed 1"),
        (["sd-card", "--cpus", "2", *GOES_ON], "--cpus 2: a guest whose runs repeat has one processor"),
        (["sd-card", "--clock", "real", "--error-at", "1", *GOES_ON], "faults of the disk need virtual time"),
        (["sd-card", "--size", "16KiB", *GOES_ON], "more than half of the disk: raise --size"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words, said, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_bytes(bytes(9 << 10))
    monkeypatch.chdir(tmp_path)
    assert main(["on", "--kernel", "7.2", "--exp", str(tmp_path / "exp"), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "exp").exists()


def test_no_two_seeds_are_the_same_guest():
    assert len({world(Wanted(disk="ram", kernel="7.2", seed=seed))[0].seed for seed in range(5)}) == 5
    assert world(Wanted(disk="ram", kernel="7.2"))[0].seed == read_spec(SPECS.find("base")).seed


def test_a_preset_brings_its_disk_its_limits_and_what_writes_beside():
    spec, beside = world(Wanted(disk="base-device", kernel="7.2"))
    assert list(spec.load) == ["command"]
    assert spec.disk["disk"].write_bps == 1 << 20
    assert {name: table["kind"] for name, table in beside.items()} == {"l1": "load", "l2": "load"}
