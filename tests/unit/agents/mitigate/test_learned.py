import pytest

from wblab.agents.mitigate import learned
from wblab.agents.mitigate.disk import Disks
from wblab.agents.mitigate.learned import recall, remember
from wblab.core.errors import WblabError


@pytest.fixture
def sizes(tmp_path, monkeypatch):
    """A function that sets the size of disk `sda` in a copy of /sys/block."""
    monkeypatch.setattr(learned, "_SYS", tmp_path / "block")

    def set_size(size):
        (tmp_path / "block/sda").mkdir(parents=True, exist_ok=True)
        (tmp_path / "block/sda/size").write_text(f"{size}\n")

    set_size(1000)
    return set_size


def test_kept_for_the_same_disk(tmp_path, sizes):
    path = tmp_path / "lib" / "disks.json"
    remember(path, {"sda": 7e7})
    remember(path, {"sdc": 3e7})
    assert recall(path, ["sda", "sdb"]) == {"sda": 7e7}
    sizes(2000)
    assert recall(path, ["sda"]) == {}


@pytest.mark.parametrize("text", ["", "[]", "null", '{"sda 1000": []}', '{"sda 1000": "fast"}'])
def test_what_cannot_be_read_is_not_known(tmp_path, sizes, text):
    path = tmp_path / "disks.json"
    path.write_text(text)
    assert recall(path, ["sda"]) == {}
    assert recall(tmp_path / "none.json", ["sda"]) == {}


def test_where_it_cannot_be_written_it_is_not_kept(tmp_path, sizes):
    (tmp_path / "file").touch()
    remember(tmp_path / "file" / "disks.json", {"sda": 7e7})


def test_known_until_it_is_measured():
    try:
        disks = Disks()
    except WblabError as error:
        pytest.skip(str(error))
    (name, *_) = disks.known
    assert not disks.bandwidths
    disks.assume({name: 7e7})
    assert disks.bandwidths == {name: 7e7}
