"""A wheel is a complete lab: it finds its files, gives guests the same program, and writes nothing into itself."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator

import pytest
from support.installed import Installed, install

from wblab.host.bundle import bundle, sources_sha256
from wblab.host.command import interpreter
from wblab.host.guestlab import copied, lab
from wblab.lab.places import ROOT
from wblab.lab.results import SPECS


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    made = install(tmp_path_factory.mktemp("installed"), borrowed=True)
    before = made.files()
    yield made
    assert made.files() == before, "something was written beside site-packages"


def test_the_installed_lab_runs_and_not_the_checkout(installed):
    done = installed.run("python", "-c", "from wblab.lab import places; print(places.ROOT, places.INSTALLED)")
    assert done.stdout == f"{installed.packages} True\n"


def test_presets_and_matrices_are_installed(installed):
    said = installed.run("wblab", "run", "nosuchpreset").stderr
    assert all(name in said for name in SPECS.names())
    assert "remedies" in installed.run("wblab", "study", "--list").stdout


def test_lessons_are_installed(installed):
    assert [line.split()[0] for line in installed.run("wblab", "lesson", "start", "--list").stdout.splitlines()[1:]]


def test_an_installed_lab_makes_the_same_site(installed, tmp_path):
    command = ["wblab", "site", "site", "--runs", "none"]
    there = installed.run(*command, cwd=tmp_path)
    assert there.returncode == 0, there.stderr
    (tmp_path / "here").mkdir()
    subprocess.run([sys.executable, "-m", *command], cwd=tmp_path / "here", check=True, capture_output=True)
    assert folder(tmp_path / "site") == folder(tmp_path / "here" / "site")


def test_a_wheel_brings_no_other_packages_and_says_that_it_is_typed(installed):
    (wheel,) = (installed.environment.parent / "wheels").glob("*.whl")
    assert content(wheel).keys() >= {"wblab/py.typed", "wblab/__init__.pyi"}
    assert {name.split("/")[0] for name in content(wheel)} == {"wblab", "tracecmd", "wblab-0.2.0.dist-info"}


def test_kernel_sources_and_patches_are_installed(installed):
    code = """
from wblab.kernels.catalog import load
from wblab.kernels.identity import recipe
known = load()
print([(series.name, recipe(series.name, known).digest) for series in known.series])
"""
    here = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    there = installed.run("python", "-c", code)
    assert (there.stdout, there.stderr) == (here, "")


def test_a_guest_gets_the_same_program_as_from_a_checkout(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = """
from wblab.host.bundle import bundle, sources_sha256
from wblab.host.command import interpreter
print(sources_sha256(), bundle(interpreter()))
"""
    done = installed.run("python", "-c", code)
    digest, path = done.stdout.split()
    assert digest == sources_sha256()
    assert installed.place.as_posix() in path
    with open(path, "rb") as file:
        assert file.read() == bundle(interpreter()).read_bytes()


@pytest.mark.parametrize(("chosen", "results"), [({}, "exp"), ({"WBLAB_EXP": "/var/tmp/mine"}, "/var/tmp/mine")])
def test_runs_go_to_the_current_directory_or_to_wblab_exp(installed, chosen, results):
    code = "from wblab.lab.places import RESULTS; print(RESULTS)"
    assert installed.run("python", "-c", code, env=chosen).stdout == f"{results}\n"


def test_the_lab_s_files_are_changed_only_in_a_checkout(installed):
    for command in (("repeat", "golden", "--update"), ("kernel", "build", "7.2", "--refresh")):
        done = installed.run("wblab", *command)
        assert done.returncode == 2
        assert "in a checkout of your own" in done.stderr
        assert done.stderr.count("\n") == 1


def test_programs_in_a_guest_find_the_lab(installed):
    """This uses the directories that a guest mounts, in the order of its search for programs and modules."""
    code = """
import json
from wblab.host.guestlab import copied
from wblab.host.guestlab import lab
found = lab()
print(json.dumps([*map(str, copied(found.python)), str(found.packages)]))
"""
    place, identity, packages = json.loads(installed.run("python", "-c", code).stdout)
    assert identity == copied(lab().python)[1], "an installed lab gives guests other files than a checkout"
    done = subprocess.run(
        ["load.py", "--help"],
        env={"PATH": f"{place}:/usr/bin", "PYTHONPATH": f"{place}:{packages}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("usage: ")


def test_a_wheel_of_the_source_distribution_is_the_same(installed, tmp_path):
    code = "import sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(tmp_path)]
    name = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    # pip mistakes it for a zip if four of its bytes look like one; Python 3.11.2 has no filter of tarfile's
    (tmp_path / "source").mkdir()
    subprocess.run(["tar", "-xf", tmp_path / name, "-C", tmp_path / "source"], check=True)
    (source,) = (tmp_path / "source").iterdir()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(source)], check=True)
    (from_source,) = tmp_path.glob("*.whl")
    (from_checkout,) = (installed.environment.parent / "wheels").glob("*.whl")
    assert content(from_source) == content(from_checkout)


def folder(place):
    return {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: (entry.external_attr, archive.read(entry)) for entry in archive.infolist()}
