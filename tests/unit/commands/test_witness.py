"""Bad input of wblab study: one line, exit code 2, and nothing is booted."""

import json
import os

import pytest

from wblab.cli import main


@pytest.fixture
def place(nothing_boots):
    """The directory for results."""
    return nothing_boots / "exp"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give what to study: wblab study --list names what there is; or --resume DIR"),
        (["base", "--resume", "x"], "--resume keeps the plan of the first call: leave WHAT out"),
        (["bsae"], "no spec 'bsae' (did you mean 'base'?)"),
        (["openat-ext4", "--set", "seed=2"], "--set: a finding and a claim have specs of their own"),
        (["openat-ext4", "--on", "7.2/real"], "--on 7.2/real: claims are checked in virtual time"),
        (["flusher-at-the-limit", "--set", "seed=2"], "--set: a finding and a claim have specs of their own"),
        (["ext4-group-lookup"], "no study outside of User Mode Linux is listed for the finding ext4-group-lookup"),
        (["base", "--on", "stock:7.2@0"], "no stock kernel 'stock:7.2@0': write stock:7.2"),
        (["base", "--on", "stock:7.2@many"], "no stock kernel 'stock:7.2@many': write stock:7.2"),
        (["base", "--on", "/real"], "--on '/real': name a kernel"),
        (["base", "--on", ""], "--on '': name a kernel"),
        (["base", "--on", "stock:7.2", "--on", "stock:7.2"], "--on: a kernel is given twice"),
        (["base", "--on", "stock:7.2", "--on", "stock:7.2@1"], "--on: a kernel is given twice"),
        (
            ["base", "--on", "stock:9.9"],
            "the kernel stock:9.9 is not here yet: take it with 'wblab kernel build --",
        ),
        (["base", "--on", "9.9"], "no kernel '9.9'"),
        (["base", "--on", "7.2+smp@4", "--on", "7.2+smp@4"], "--on: a kernel is given twice"),
        (
            ["base", "--on", "7.2+smp@4"],
            "kernel 7.2+smp@4 is not built yet: build it with 'wblab kernel build 7.2+smp'",
        ),
        (["base", "--on", "7.2+smp@none"], "no variant 'smp@none' of the kernel 7.2"),
        (["base", "--on", "./a/real/linux"], "no kernel tree, archive or executable at './a/real/linux': check"),
        (["base", "--on", "live:"], "'live:': name a directory, such as live:/srv"),
        (["base", "--on", "live:/nowhere"], "cannot use the directory '/nowhere': No such file or directory"),
        (["base", "--on", "live:slow=/a,fast=/b"], "base has one disk: write --on live:DIR"),
        (["two-disks", "--on", "live:/a"], "two-disks has disks slow and fast: write --on live:slow=DIR,fast=DIR"),
        (["base", "--on", "live:/proc"], "/proc is in proc, whose files no disk ever gets"),
        (["base", "--on", "live:/a", "--on", "live:/a/"], "--on: a kernel is given twice"),
        (["base", "--on", "live:/", "--set", "phase.p={at='1s'}"], "phase.p: that is only for guests"),
        (["openat-ext4", "--on", "live:/"], "--on live:/: a claim is checked in guests only"),
        (["base", "--seeds", "0"], "argument --seeds"),
        (["base", "--jobs", "-1"], "argument --jobs"),
        (["two-disks", "--on", "stock:7.2", "--set", "disk.slow.seek_time=1ms"], "disk.slow.seek_time: a disk in QEMU"),
        (["base", "--on", "stock:7.2", "--set", "phase.p={at='1s'}"], "phase.p: it was never tried"),
        (["base", "--set", "disk.write_bps=fast"], "disk.write_bps: 'fast' is not understood"),
        (["--resume", "nowhere"], ""),
        (["--resume", "latest"], ""),
    ],
)
def test_bad_input_is_refused_on_one_line(place, capsys, arguments, said):
    everywhere = [] if "--on" in arguments or "--resume" in arguments else ["--on", "all"]
    assert main(["study", *arguments, *everywhere, "--exp", str(place)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"wblab: {said}")
    assert error.count("\n") == 1
    assert not place.exists() or os.listdir(place) == []


def test_the_latest_is_looked_for(place, capsys):
    place.mkdir()
    assert main(["study", "--resume", "latest", "--exp", str(place)]) == 2
    assert capsys.readouterr().err == f"wblab: no study in {place}: 'wblab runs' lists what is there\n"


def test_the_study_of_another_verb_is_not_resumed(place, capsys):
    study = place / "study"
    study.mkdir(parents=True)
    (study / "study.json").write_text(json.dumps({"format": 1, "kind": "study", "design": "bisect"}))
    assert main(["study", "--resume", "study", "--exp", str(place)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
