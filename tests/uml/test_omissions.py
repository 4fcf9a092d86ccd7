"""Each measure for reproducibility is omitted once: under some condition of the host, the runs must then differ.

That with all measures nothing is noticed, test_determinism.py shows. Not here are three that stand behind others,
without which alone nothing changes: norandmaps, the grid of times, the program's copy in the guest's memory.
"""

import tempfile
from pathlib import Path

import pytest
from support.edits import Edit, apply
from support.labcopy import copy_lab
from support.lottery import some
from support.replay import measured, replay, seen
from support.witness import a_hash, plant_witness

ENVIRONMENT = "wblab/host/environment.py"
COMMAND = "wblab/host/command.py"
DISK = "wblab/host/disks/disk.py"
MKFS = "wblab/host/disks/mkfs.py"
# The measure, how it is omitted, and the condition under which the runs then differ.
OMISSIONS = {
    "seed of the kernel's random numbers": (Edit(COMMAND, 'f"um_seed={', 'f"no_seed={'), "idle"),
    "wall clock at boot": (Edit(COMMAND, '            f"time-travel-start={START_NS}",\n', ""), "idle"),
    "number of the filesystem": (Edit(DISK, '"-U", str(volume), ', ""), "idle"),
    "seed of directory hashes": (Edit(DISK, ",hash_seed={seed}", ""), "idle"),
    "time of mke2fs": (Edit(MKFS, " | _DEFAULTS | _FIXED", " | _DEFAULTS"), "idle"),
    "place of libraries": (Edit(ENVIRONMENT, '"LD_LIBRARY_PATH": ', '"NO_LIBRARY_PATH": '), "set-up"),
    "defaults of mke2fs": (Edit(MKFS, " | _DEFAULTS", ""), "set-up-without-landlock"),
    "locale": (Edit(ENVIRONMENT, '"LC_ALL": "C"', '"NO_ALL": "C"'), "set-up"),
    "time zone": (Edit(ENVIRONMENT, '"TZ": ', '"NO": '), "set-up"),
    "no site packages": (Edit(COMMAND, '"-S", "-s",', '"-s",'), "set-up"),
    "one path to a tool": (
        Edit("wblab/lab/packages.py", "os.path.realpath(os.path.dirname(found))", "os.path.dirname(found)"),
        "environment",
    ),
}


@pytest.mark.parametrize("measure", some(OMISSIONS, 4))
def test_omitting_a_determinism_measure_is_detected(kernel, tmp_path, measure):
    edit, condition = OMISSIONS[measure]
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as place:
        lab = copy_lab(Path(place))
        plant_witness(lab)
        apply(lab, [edit])
        one, other = (replay(lab, kernel, "ext4-throttle", name, tmp_path) for name in ("idle", condition))
    assert measured(one, other) + seen(one, other) != []


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([], id="all measures"),
        pytest.param([Edit(ENVIRONMENT, '"PYTHONHASHSEED": ', '"NO_HASHSEED": ')], id="hashes"),
    ],
)
def test_the_seed_does_not_change_python_s_hashes(kernel, tmp_path, edits):
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as place:
        lab = copy_lab(Path(place))
        plant_witness(lab)
        apply(lab, edits)
        runs = (replay(lab, kernel, "ext4-throttle", "idle", tmp_path, f"seed={seed}") for seed in (1, 2))
        assert (len(set(map(a_hash, runs))) == 1) == (not edits)
