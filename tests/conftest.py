"""For all tests: omitted tests are listed, and property tests have no time limits, because timings decide nothing."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.labcopy import copy_lab
from support.pages import slips, words

from wblab.lab.places import ROOT
from wblab.machine.storage import find_storage

pytest_plugins = ["support.leftout", "support.lottery"]
settings.register_profile("wblab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wblab")
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    """Restore the umask of the process, because a daemon that a test runs in it sets its own."""
    ours = os.umask(0o022)
    os.umask(ours)
    yield
    os.umask(ours)


@pytest.fixture(scope="session", autouse=True)
def _words_for_people() -> Iterator[None]:
    """Check the text of every picture and page that a test makes: an object or a missing number is a mistake."""
    from jinja2 import Template
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    def saved(self: Figure, *arguments: Any, **options: Any) -> None:
        assert not slips(text.get_text() for text in self.findobj(Text))
        plain_savefig(self, *arguments, **options)

    def rendered(self: Template, *arguments: Any, **options: Any) -> str:
        page = plain_render(self, *arguments, **options)
        assert not slips(words(page))
        return page

    plain_savefig, plain_render = Figure.savefig, Template.render
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", saved)
        patch.setattr(Template, "render", rendered)
        yield


@pytest.fixture(scope="session")
def readable_lab() -> Iterator[Path]:
    """A copy of the lab that every user can read."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as place:
        yield copy_lab(Path(place))


@pytest.fixture
def disk_path(tmp_path: Path) -> Iterator[Path]:
    """A directory whose files are on a disk, so that writing counts. /tmp is in memory on some machines."""
    for base in (tmp_path, Path("/var/tmp"), ROOT):
        if find_storage(base).device:
            with tempfile.TemporaryDirectory(dir=base, prefix=".wblab-tests-") as place:
                yield Path(place)
            return
    pytest.skip("no directory here is on a disk")
