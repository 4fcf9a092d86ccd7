import subprocess
import sys

import pytest

from wblab.core.errors import InputError
from wblab.lab.places import LINUX_UML, MATRICES, MEASURED, PRESETS, PROGRAM, ROOT, check_checkout


def test_a_checkout_has_all_its_places():
    assert PROGRAM == ROOT / "experiment.py"
    assert all(path.exists() for path in (PROGRAM, PRESETS / "base.toml", MATRICES, LINUX_UML / "kernels.toml"))


@pytest.mark.parametrize(("chosen", "results"), [({}, str(ROOT / "exp")), ({"WBLAB_EXP": "mine"}, "mine")])
def test_runs_go_to_the_checkout_or_to_wblab_exp(chosen, results):
    code = "from wblab.lab.places import RESULTS; print(RESULTS)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=chosen, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{results}\n"


def test_a_checkout_is_writable(tmp_path):
    check_checkout(MEASURED / "golden.json", "--update")


def test_an_installation_is_not_writable(tmp_path):
    with pytest.raises(
        InputError, match=r"--update writes experiments/measured/golden.json of the lab: do it in a checkout"
    ):
        check_checkout(MEASURED / "golden.json", "--update", is_installed=True)
    check_checkout(tmp_path / "pins.toml", "--refresh", is_installed=True)
