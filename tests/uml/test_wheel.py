"""A wheel in a fresh environment, far from any checkout, runs the base experiment for an ordinary user."""

import os
import shutil
import tempfile
from pathlib import Path

from support.installed import install

from wblab.data.digest import digest
from wblab.data.run import read_run

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


def test_an_installed_lab_runs_the_base_experiment_for_an_ordinary_user(kernel, shared_lab):
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as place:  # every user gets there
        installed = install(Path(place))
        linux = shutil.copytree(kernel.path.parent, Path(place, "kernel")) / kernel.path.name
        for path in (Path(place), *Path(place).rglob("*")):  # whatever our umask is
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o055 if path.is_file() else 0o755)
        before = installed.files()
        user = NOBODY if os.geteuid() == 0 else {}
        if user:
            os.chown(installed.place, 65534, 65534)
        done = installed.run("wblab", "run", "base", "--kernel", linux, **user)
        assert done.returncode == 0, done.stderr
        assert installed.files() == before
        run = read_run(installed.place / done.stdout.strip())
        assert run.path.parent == installed.place / "exp"
        assert not run.failure
        assert run.path.stat().st_uid == (65534 if user else os.geteuid())
        assert digest(run) == digest(shared_lab.run("base"))  # a checkout's
