"""What programs of a guest see of the lab and of Python: the same, whatever lies about on the host."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.host.guestlab import GuestLab, Origin, asks_for_packages, copied, guest_lab, lab
from wblab.host.guestprograms import describe_programs
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec

PYTHON = Path(os.path.realpath(sys.executable))


def spec(*argv):
    words = ", ".join(f"'{word}'" for word in argv)
    return read_spec(PRESETS / "base.toml", [f"load.go={{kind='command', wait='1s', argv=[{words}]}}"])


@pytest.mark.parametrize(
    ("argv", "asks"),
    [
        (("python3", "-c", "import json"), False),
        (("python3", "-m", "wblab.lessons.programs.cache", "/run/wblab/scratch/left"), False),
        (("wblab", "mitigate"), True),
        (("sh", "-c", "sleep 1; wblab --version"), True),
        (("env", "PYTHONPATH=/run/wblab/packages", "python3", "-c", "import numpy"), True),
    ],
)
def test_only_who_names_the_lab_s_command_or_its_packages_gets_them(argv, asks):
    assert asks_for_packages(spec(*argv)) is asks
    lab = guest_lab(spec(*argv))
    assert (lab.has_packages, bool(os.listdir(lab.packages))) == (asks, asks)


def test_a_run_without_programs_has_no_lab():
    assert guest_lab(read_spec(PRESETS / "base.toml")) is None


def test_the_lab_in_a_guest_depends_on_no_byte_code_of_the_host(tmp_path, monkeypatch):
    source = tmp_path / "lab"
    for name in ("wblab/core/__init__.py", "wblab/core/data.json", "misc/tracecmd/__init__.py", "experiments/a.toml"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("")
    for name in ("experiment.py", "live_experiment.py", "load.py"):
        (source / name).write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    origin = Origin(source, source, source / "experiments")
    place, identity = copied(PYTHON, origin)
    stale = source / "wblab" / "core" / "__pycache__" / "stale.cpython-311.pyc"
    stale.parent.mkdir()
    stale.write_bytes(b"")
    os.utime(source / "wblab" / "core" / "__init__.py", (0, 0))
    assert copied(PYTHON, origin) == (place, identity)
    assert [path.name.split(".")[0] for path in (place / "wblab" / "core" / "__pycache__").iterdir()] == ["__init__"]
    (source / "wblab" / "core" / "data.json").write_text("{}")
    assert copied(PYTHON, origin)[1] != identity
    assert place.is_dir()  # a guest may have it
    os.utime(place.with_suffix(".used"), (0, 0))
    (source / "wblab" / "core" / "data.json").write_text("[]")
    copied(PYTHON, origin)
    assert not place.exists()


def test_a_guest_s_python_has_no_packages_and_runs_none_of_a_host_s_start_up_files():
    place, _ = copied(PYTHON)
    code = "import sys, sitecustomize; print(sitecustomize.__file__, *sys.path, sep='\\n')"
    python = place / "environment" / "bin" / "python3"
    done = subprocess.run(
        [python, "-c", code], env={"PYTHONPATH": str(place)}, capture_output=True, text=True, check=True
    )
    customize, *path = done.stdout.split("\n")
    assert customize == str(place / "sitecustomize.py")
    assert not [each for each in path if each.endswith("-packages")]


def test_the_record_names_what_programs_depend_on(tmp_path):
    library, packages = tmp_path / "python3", tmp_path / "packages"
    for path in (library / "json" / "__pycache__", packages):
        path.mkdir(parents=True)
    source = library / "json" / "tool.py"
    source.write_text("")
    status = source.stat()
    head = int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
    (library / "json" / "__pycache__" / "tool.cpython-311.pyc").write_bytes(bytes(8) + head)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho {library}\n")  # what is asked of one
    python.chmod(0o755)
    asking = spec("sh", "-c", "wblab --version; no-such-program; sync")
    lab = GuestLab(python, tmp_path / "lab", "a", packages)

    def found():
        return describe_programs(asking, lab)

    def changed(before):
        now = found()
        return {name for name in {**before, **now} if before.get(name) != now.get(name)}

    before = found()
    assert {"sh", "sync", "Python", "the lab's modules", "the lab's packages"} <= before.keys()
    assert "no-such-program" not in before
    os.utime(source, (1, 1))  # the byte code does not fit any more
    assert changed(before) == {"Python's library"}
    before = found()
    (packages / "more").mkdir()
    assert changed(before) == {"the lab's packages"}
    assert describe_programs(asking, replace(lab, sha256="b"))["the lab's modules"] == "b"


def test_the_lab_is_the_running_package():
    found = lab()
    assert found.packages.is_relative_to(sys.prefix)
    assert (found.packages / "psutil").is_dir()
    assert found.python == Path(sys.executable).resolve()


def test_an_environment_without_packages_is_refused(tmp_path):
    with pytest.raises(InputError, match="make setup"):
        lab(tmp_path)


def test_a_python_that_guests_cannot_see_is_refused():
    with pytest.raises(InputError, match="a guest cannot see"):
        lab(hidden=["/"])
