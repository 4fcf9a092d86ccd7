import os

import pytest
from support.livelab import Live

from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo


@pytest.fixture
def live(tmp_path):
    (tmp_path / "disk").mkdir()
    return Live(tmp_path / "disk", tmp_path / "exp")


@pytest.fixture
def tracing():
    """The directory of tracefs; skip if the host does not permit tracing."""
    if os.geteuid():
        pytest.skip("only root may trace")
    with Undo() as undo:
        try:
            probe = Instance("probe", undo)
        except OSError as error:
            pytest.skip(f"this host does not let us trace: {error}")
        yield probe.path.parents[1]
