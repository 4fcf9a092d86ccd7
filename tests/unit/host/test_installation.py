"""The files of a program are granted one by one, because programs and Pythons may be installed in homes."""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.host import installation
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.host.installation import check_no_home, describe_python, needed


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home with a private key, and a separate cache of facts."""
    home = tmp_path / "home"
    for directory in ("bin", ".local/bin", ".local/lib", ".ssh"):
        (home / directory).mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return home


def says(path: Path, *modules: Path) -> Path:
    """Make a Python with its modules in this directory."""
    path.write_text(f"#!/bin/sh\necho '{json.dumps([str(place) for place in modules])}'\n")
    path.chmod(0o755)
    for place in modules:
        place.mkdir(parents=True, exist_ok=True)
    return path


def test_a_program_of_the_distribution_needs_no_further_grants():
    assert needed("/usr/bin/env") == [os.path.realpath("/usr/bin/env")]


@pytest.mark.parametrize("directory", ["bin", ".local/bin"])
def test_trace_cmd_copied_to_a_home_is_one_file(home, directory):
    copied = shutil.copy("/usr/bin/env", home / directory / "trace-cmd")
    assert needed(copied) == [str(copied)]


def test_trace_cmd_installed_in_a_home_has_its_plugins(home):
    copied = shutil.copy("/usr/bin/env", home / ".local" / "bin" / "trace-cmd")
    plugins = home / ".local" / "lib" / "traceevent" / "plugins"
    plugins.mkdir(parents=True)
    assert needed(copied) == [str(copied), str(plugins)]


def test_a_python_in_a_home_has_its_modules_and_libraries(home):
    lib = home / ".local" / "lib"
    python = says(home / ".local" / "bin" / "python3.11", lib / "python3.11", lib / "python3.11" / "lib-dynload")
    (lib / "python3.11" / "os.py").touch()
    (lib / "libpython3.11.so.1.0").touch()
    (lib / "somebodys.txt").touch()
    link = home / "bin" / "python3"
    link.symlink_to(python)
    assert set(needed(str(link))) == {
        str(python),
        str(lib / "python3.11"),
        str(lib / "python3.11" / "lib-dynload"),
        str(lib / "libpython3.11.so.1.0"),
    }


def test_a_python_copied_into_a_home_is_granted(home):
    """Its modules are still those of the distribution or of its original directory."""
    copied = shutil.copy(interpreter(), home / ".local" / "bin")
    granted = needed(copied)
    assert granted[0] == str(copied)
    assert not any(home.is_relative_to(path) for path in granted)


def test_libraries_are_found_as_the_loader_does(home, monkeypatch):
    """Both the environment of the guest's init and that of its commands count; missing libraries are left out."""
    program, lib = shutil.copy("/usr/bin/env", home / ".local" / "bin" / "trace-cmd"), home / ".local" / "lib"
    for name in ("libown.so.1", "lib other.so", "loader.so"):
        (lib / name).touch()
    script = home / "ld.so"
    script.write_text(f"""#!/bin/sh
echo "\tlinux-vdso.so.1 (0x00007ffe1)
\t${{LC_ALL:+libown.so.1 => {lib}/libown.so.1 (0x00007fc0)}}
\t${{LC_ALL:-lib other.so => {lib}/lib other.so (0x00007fc1)}}
\tlibgone.so => not found
\tlibaway.so => {lib}/libaway.so (0x00007fc2)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fc3)
\t{lib}/loader.so (0x00007fc4)"
""")
    script.chmod(0o755)
    monkeypatch.setattr(installation, "loader", lambda file: str(script))
    assert set(needed(program)) == {str(program), *(str(file) for file in lib.iterdir())}


@pytest.mark.parametrize("held", ["", "..", "/"])
def test_a_directory_that_holds_a_home_is_refused(home, held):
    with pytest.raises(InputError, match="contains a home directory"):
        check_no_home(str(home / held))
    python = says(home / "bin" / "python3.11", home / held)
    with pytest.raises(InputError, match="contains a home directory: install Python"):
        needed(str(python))


def test_homes_of_all_accounts_are_known(tmp_path):
    other = tmp_path / "homes" / "other"
    account = type("Account", (), {"pw_dir": str(other)})
    check_no_home(str(other / "lib"), [account])
    with pytest.raises(InputError):
        check_no_home(str(tmp_path / "homes"), [account])


def test_a_python_that_does_not_run_is_refused(home):
    python = home / "bin" / "python3.11"
    python.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(WblabError, match=f"cannot run {python}: broken"):
        needed(str(python))


def test_the_interpreter_and_its_libraries_are_identified_by_content():
    said = describe_python(interpreter(), bundle(interpreter()))
    assert said["python"] == interpreter()
    assert str(said["python_version"]).startswith("3.")
    assert said["python_sha256"] == sha256(Path(interpreter()).read_bytes()).hexdigest()
    assert any(name.startswith("libc.so") for name in said["libraries"])
    assert all(len(digest) == 64 for digest in said["libraries"].values())
