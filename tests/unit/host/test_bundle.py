import ast
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import wblab
from wblab.core.errors import WblabError
from wblab.host.bundle import GUEST_INIT, Sources, bundle, sources_sha256
from wblab.host.command import interpreter
from wblab.host.forked import forked
from wblab.host.guestlab import copied
from wblab.lab.places import ROOT


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def lab(tmp_path):
    """The directory with a copy of the sources that the test may change."""
    copy = tmp_path / "lab"
    for package in ("core", "guest"):
        shutil.copytree(ROOT / "wblab" / package, copy / "wblab" / package)
    shutil.copy(ROOT / "wblab" / "__init__.py", copy / "wblab")
    shutil.copy(ROOT / "experiment.py", copy)
    return copy


@pytest.fixture
def bundled(lab):
    """Return a function that makes the bundle of that copy."""
    return lambda: bundle(interpreter(), lab=Sources(lab, lab / "experiment.py"))


def test_the_same_content_gives_the_same_file(bundled, tmp_path, monkeypatch):
    first = bundled()
    changed_ns = first.stat().st_mtime_ns
    assert bundled() == first
    assert first.stat().st_mtime_ns == changed_ns
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    other = bundled()
    assert other.name == first.name
    assert other.read_bytes() == first.read_bytes()
    assert [path.name for path in first.parent.iterdir()] == [first.name]


def test_the_path_and_byte_code_of_the_lab_do_not_matter(lab, bundled):
    (lab / "wblab" / "core" / "__pycache__").mkdir(exist_ok=True)
    (lab / "wblab" / "core" / "__pycache__" / "units.cpython-311.pyc").write_bytes(b"other")
    assert bundle(interpreter()) == bundled()


@pytest.mark.parametrize("name", ["experiment.py", "wblab/core/units.py", "wblab/guest/init.py"])
def test_a_changed_source_gives_another_file(lab, bundled, name):
    before = bundled()
    with (lab / name).open("a") as source:
        source.write("# changed\n")
    assert bundled() != before


def test_the_python_interface_is_no_part_of_it(lab, bundled):
    before = bundled()
    with (lab / "wblab" / "__init__.py").open("a") as source:
        source.write("\nCHANGED = True\n")
    assert bundled() == before
    with zipfile.ZipFile(before) as archive:
        assert archive.read("wblab/__init__.py") == GUEST_INIT.read_bytes()
    (place, _) = copied(Path(interpreter()))
    assert (place / "wblab/__init__.py").read_bytes() == GUEST_INIT.read_bytes()


def test_a_new_source_gives_another_file(lab, bundled):
    before = bundled()
    (lab / "wblab" / "core" / "new.py").touch()
    assert bundled() != before


def imports(module):
    """Return the files of the lab that a module imports anywhere in it, without those of packages."""
    package = Path(wblab.__file__).parent
    found = set()
    for node in ast.walk(ast.parse((package / module).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        places = [Path(*name.split(".")[1:]) for name in names if name.startswith("wblab.")]
        files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
        found |= {str(file) for file in files if (package / file).is_file()}
    return found


def test_core_has_exactly_the_modules_that_the_guest_imports():
    seen, left = set(), {"guest/first.py", "guest/init.py"}
    while left:
        seen |= left
        left = set().union(*map(imports, left)) - seen
    package = Path(wblab.__file__).parent
    carried = {str(path.relative_to(package)) for room in ("core", "guest") for path in (package / room).rglob("*.py")}
    assert {name for name in seen ^ carried if not name.endswith("__init__.py")} == set()


@pytest.mark.parametrize(
    "room", ["machine", "live/runs", "live/changes", "live/monitor", "live/mitigate", "lab", "host"]
)
def test_a_change_outside_core_and_guest_keeps_the_program(lab, bundled, room):
    shutil.copytree(Path(wblab.__file__).parent / room, lab / "wblab" / room)
    before = sources_sha256(Sources(lab, lab / "experiment.py"))
    sources = list((lab / "wblab" / room).glob("*.py"))
    assert sources
    for source in sources:
        source.write_text("raise SystemExit('changed')\n")
    assert sources_sha256(Sources(lab, lab / "experiment.py")) == before
    assert bundled()  # the bundle is compiled without them


def test_the_guest_imports_everything_from_the_archive(tmp_path):
    code = """
import sys
archive = sys.argv[1]
sys.path = [archive, *(path for path in sys.path if path and "-packages" not in path)]
import wblab.guest.init
lab = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "wblab"}
assert len(lab) > 10, lab
for module in lab.values():
    assert module.__spec__.cached or module.__file__.startswith(archive), module
    assert module.__file__.startswith(archive + "/wblab/"), module.__file__
    assert module.__file__.endswith(".pyc"), module.__file__  # nothing is compiled in the guest
third = {name for name, module in sys.modules.items() if "-packages" in (getattr(module, "__file__", None) or "")}
assert not third, third
print(wblab.guest.init.main.__code__.co_filename)
"""
    archive = bundle(interpreter())
    done = subprocess.run(
        [interpreter(), "-S", "-s", "-P", "-B", "-c", code, archive],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONHASHSEED": "0"},
    )
    assert done.stderr == ""
    assert done.stdout == "/lab/wblab/guest/init.py\n"


def test_a_source_with_a_syntax_error_is_named(lab, bundled):
    (lab / "wblab" / "core" / "new.py").write_text("def (")
    with pytest.raises(WblabError, match="cannot compile the guest's program: SyntaxError"):
        bundled()


@pytest.fixture(params=["", "3.12", "3.13", "3.14"], ids=lambda version: version or "guest's")
def python(request) -> str:
    """The guest's interpreter, and others of this machine."""
    if not request.param:
        return interpreter()
    command = [f"python{request.param}", "-c", "import os, sys; print(os.path.realpath(sys.executable))"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"no Python {request.param} on this machine")


def test_a_module_that_another_replaces_is_in_the_archive_too(python):
    """Since Python 3.13, collections/abc.py puts _collections_abc in its own place."""
    with zipfile.ZipFile(bundle(python)) as archive:
        assert "collections/abc.pyc" in archive.namelist()


def test_the_standard_library_comes_from_the_archive_too(tmp_path, python):
    """Byte code on the host, stale or not, must not affect the guest."""
    code = """
import sys, runpy, wblab.guest.init
archive = sys.argv[1]
files = {getattr(module, "__spec__", None) and module.__spec__.origin for module in sys.modules.values()}
print([file for file in files if file and file.endswith((".py", ".pyc")) and not file.startswith(archive)])
import encodings.idna, json.tool  # what the guest's program does not need is where it was
"""
    archive = bundle(python)
    done = subprocess.run(
        [python, "-S", "-s", "-P", "-B", "-c", code, archive],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONHASHSEED": "0", "PYTHONPATH": str(archive)},
    )
    assert (done.stderr, done.stdout) == ("", "[]\n")


def test_simultaneous_runs_may_make_the_bundle(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = {}
    with forked(4, lambda job: bundle(interpreter()), str) as workers:
        for number in range(4):
            workers.give(str(number), number)
        while len(made) < 4:
            made |= dict(workers.ended(5))
    assert len(set(made.values())) == 1


def test_another_main_program_has_its_packages_and_is_another_file():
    other = bundle(interpreter(), main="wblab/substrates/qemu/guest/main.py", more=["wblab/substrates/qemu/guest"])
    assert other != bundle(interpreter())
    names = set(zipfile.ZipFile(other).namelist())
    packages = ("wblab", "wblab/substrates", "wblab/substrates/qemu", "wblab/substrates/qemu/guest")
    assert {f"{package}/__init__.py" for package in packages} <= names
    assert "wblab/substrates/qemu/guest/disks.pyc" in names
    assert "wblab/substrates/qemu/run.py" not in names  # of the host
    assert names > {name for name in zipfile.ZipFile(bundle(interpreter())).namelist() if name.startswith("wblab/")}
