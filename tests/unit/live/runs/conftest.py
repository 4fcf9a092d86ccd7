import pytest
from support.livelab import Live, tracing

__all__ = ["tracing"]


@pytest.fixture
def live(tmp_path):
    (tmp_path / "disk").mkdir()
    return Live(tmp_path / "disk", tmp_path / "exp")
