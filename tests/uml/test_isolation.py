"""The guest may not hurt the host: as root of the guest, with every trick that mount(2) allows."""

import json
import os

import pytest

from wblab.core.errors import WblabError
from wblab.host.sandbox import landlock_version

ATTACK = """
import json, os
from pathlib import Path
from wblab.core import layout
from wblab.core.syscalls import mount, power_off
from wblab.guest import mounts

MS_REMOUNT = 32
outside = Path({outside!r})

def attempts(root):
    victim = Path(str(root) + str(outside / "victim"))
    return {{
        "write": lambda: victim.write_text("changed"),
        "append": lambda: os.write(os.open(victim, os.O_WRONLY | os.O_APPEND), b"more"),
        "truncate": lambda: os.truncate(victim, 0),
        "create": lambda: victim.with_name("new").write_text(""),
        "make directory": lambda: victim.with_name("folder").mkdir(),
        "link": lambda: os.symlink("victim", victim.with_name("link")),
        "rename": lambda: victim.rename(victim.with_name("moved")),
        "delete": lambda: victim.unlink(),
    }}

def try_all(root):
    done = []
    for name, attempt in attempts(root).items():
        try:
            attempt()
            done.append(name)
        except OSError:
            pass
    return done

mounts.mount_all()
result = {{"as mounted": try_all("")}}
if {hard}:
    mount("none", "/", "hostfs", MS_REMOUNT)
    result["root remounted"] = try_all("")
    os.mkdir("/mnt/host")
    mount("none", "/mnt/host", "hostfs", 0, "/")
    result["host mounted anew"] = try_all("/mnt/host")
    assert Path("/mnt/host" + str(outside / "victim")).read_text() == "untouched"
(layout.RUN / "result.json").write_text(json.dumps(result))
power_off()
"""


def test_a_guest_process_cannot_change_the_host(lab, guest_program, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "victim").write_text("untouched")
    hard = landlock_version() > 0
    guest_program(ATTACK.format(outside=str(outside), hard=hard))
    with pytest.raises(WblabError):  # it never says that an experiment went well
        lab.run("base")
    (staged,) = lab.results.iterdir()
    result = json.loads((staged / "result.json").read_text())
    assert len(result) == (3 if hard else 1)
    assert not any(result.values()), result
    assert os.listdir(outside) == ["victim"]
    assert (outside / "victim").read_text() == "untouched"
