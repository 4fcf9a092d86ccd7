import sys
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.host.guestlab import lab


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
