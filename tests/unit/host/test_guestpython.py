from hashlib import sha256
from pathlib import Path

from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.host.installation import describe_python


def test_the_interpreter_and_its_libraries_are_identified_by_content():
    said = describe_python(interpreter(), bundle(interpreter()))
    assert said["python"] == interpreter()
    assert str(said["python_version"]).startswith("3.")
    assert said["python_sha256"] == sha256(Path(interpreter()).read_bytes()).hexdigest()
    assert any(name.startswith("libc.so") for name in said["libraries"])
    assert all(len(digest) == 64 for digest in said["libraries"].values())
