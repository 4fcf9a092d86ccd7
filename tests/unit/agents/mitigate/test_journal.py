import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.agents.mitigate.changes import Controller, Group, IoPriority, Membership, Setting
from wblab.agents.mitigate.journal import Journal
from wblab.core.errors import WblabError

numbers = st.integers(0, 2**40)
words = st.text(max_size=30)
changes = st.one_of(
    st.builds(IoPriority, tid=numbers, pid=numbers, session=numbers, start_ticks=numbers, old=numbers, new=numbers),
    st.builds(Membership, pid=numbers, session=numbers, start_ticks=numbers, old=words, new=words),
    st.builds(Setting, path=words, new=words, back_path=words, back=words),
    st.builds(Controller, path=words, name=words),
    st.builds(Group, path=words),
)


@given(st.lists(changes, min_size=1))
def test_what_is_noted_is_read_back(tmp_path_factory, changes):
    path = tmp_path_factory.mktemp("state") / "mitigate.json"
    Journal(path).add(changes)
    assert Journal(path).changes == changes


def setting(path, new, back):
    return Setting(path=str(path), new=new, back_path=str(path), back=back)


def test_undone_last_first_and_gone_then(tmp_path):
    file = tmp_path / "file"
    file.write_text("3\n")
    journal = Journal(tmp_path / "mitigate.json")
    journal.add([setting(file, "2", "1")])
    journal.add([setting(file, "3", "2")])
    assert Journal(tmp_path / "mitigate.json").undo(journal.changes) == []
    assert file.read_text() == "1"
    assert not (tmp_path / "mitigate.json").exists()


def test_undoing_twice_is_harmless(tmp_path):
    file = tmp_path / "file"
    file.write_text("2")
    change = setting(file, "2", "1")
    change.undo()
    file.write_text("9")
    change.undo()
    assert file.read_text() == "9"


def test_what_fails_is_named_and_the_rest_is_undone(tmp_path):
    file = tmp_path / "file"
    file.write_text("2")
    journal = Journal(tmp_path / "mitigate.json")
    journal.add([setting(file, "2", "1"), setting(tmp_path / "gone", "2", "1")])
    (failure,) = journal.undo(journal.changes)
    assert "gone" in failure
    assert file.read_text() == "1"


def test_void_after_a_boot(tmp_path):
    path = tmp_path / "mitigate.json"
    Journal(path).add([Group(path="/nowhere")])
    path.write_text(path.read_text().replace(Path("/proc/sys/kernel/random/boot_id").read_text().strip(), "other"))
    assert Journal(path).changes == []


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"changes": []}), "\0"])
def test_a_broken_journal_is_not_taken_for_an_empty_one(tmp_path, text):
    path = tmp_path / "mitigate.json"
    path.write_text(text)
    with pytest.raises(WblabError, match="put back by hand"):
        Journal(path)


def test_unknown_changes_are_not_passed_over(tmp_path):
    path = tmp_path / "mitigate.json"
    Journal(path).add([Group(path="/nowhere")])
    path.write_text(path.read_text().replace('"group"', '"troup"'))
    with pytest.raises(WblabError, match="put back by hand"):
        Journal(path)


def test_without_a_place_nothing_is_changed(tmp_path):
    with pytest.raises(WblabError, match="nothing is changed"):
        Journal(tmp_path / "no" / "mitigate.json").add([Group(path="/nowhere")])
