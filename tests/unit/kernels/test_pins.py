from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import catalog, pins
from wblab.kernels.pins import Pin


def test_written_pins_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "pins.toml"
    assert pins.load(path) == {}
    known = {"7.3": Pin("debian", "7.3~rc7-1~exp1", "a" * 64), "6.1": Pin("kernel_org", "6.1.9", "b" * 64)}
    pins.save(path, known)
    assert pins.load(path) == known
    assert path.read_text().startswith("# Which source exactly each series means.")


@pytest.mark.parametrize(
    "text", ["nonsense", '["7.3"]\ndebian = "7.3-1"', '["7.3"]\nsha256 = "a"', '"7.3" = 7', '"7.3" = "a"']
)
def test_a_file_that_is_not_a_pin_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "pins.toml").write_text(text)
    with pytest.raises(InputError, match=r"pins\.toml cannot be used"):
        pins.load(tmp_path / "pins.toml")


def test_every_series_of_the_lab_is_pinned() -> None:
    known = catalog.load()
    assert list(known.pins) == [series.name for series in known.series]
