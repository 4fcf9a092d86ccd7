"""What a notebook writes is what the terminal reads, and the other way round."""

import tomllib
from dataclasses import replace

import pytest
from support.lessonbegun import begin

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.lessons.folder import ANSWER
from wblab.lessons.notebook.desk import Desk


@pytest.fixture
def desk(tmp_path, make):
    """A desk whose runs are a test's own."""
    return Desk(begin(tmp_path), lambda at, progress: make)


@pytest.fixture
def directory(desk):
    return desk.at.folder.of(desk.at.lesson)


def test_answers_are_in_the_file_of_the_terminal(desk, directory):
    desk.answer("why", 'As "the disk"\nis slow.')
    desk.answer("which", "l1")
    text = (directory / ANSWER).read_text()
    written = tomllib.loads(text)
    assert (written["which"], written["why"]) == ("l1", 'As "the disk"\nis slow.')
    assert {written[name] for name in ("expect", "longest", "shorter")} == {""}
    assert "#   c1: c1, which sleeps" in text
    (directory / ANSWER).write_text(text.replace('longest = ""', "longest = 1.5"))
    assert desk.answers()["longest"] == "1.5"


def test_keys_are_changed_in_the_file_of_the_terminal(desk, directory):
    desk.change("smaller", "load.l1.size", "8MiB")
    assert desk.table("smaller")["load"]["l1"]["size"] == "8MiB"
    desk.change("smaller", "disk.queue.nr_requests", 4)
    desk.change("smaller", "disk.queue.nr_requests", None)
    assert "nr_requests" not in (directory / "smaller.toml").read_text()


def test_a_prediction_is_kept_before_the_first_run(desk):
    assert [one.outcome for one in desk.check().judged] == ["missing"]
    desk.answer("expect", "soon")
    assert [one.outcome for one in desk.check().judged] == ["wrong"]
    assert desk.kept() == {}
    desk.answer("expect", "0.2 s")
    assert desk.check().judged[0].outcome == "kept"
    assert desk.kept() == {"expect": "0.2 s"}
    with pytest.raises(InputError, match="kept as it was"):
        desk.answer("expect", "2 s")


def test_a_lesson_is_solved(desk, capsys):
    desk.answer("expect", "1")
    pause_s = int(desk.at.state.who.values(desk.at.lesson)["size"]) / 10
    desk.answer("longest", f"{pause_s} s")
    desk.answer("which", "c1")
    desk.answer("why", f"The disk is slow so it takes {pause_s} s in all.")
    desk.change("smaller", "load.l1.size", "8MiB")
    desk.answer("shorter", "800 ms")
    assert not desk.check().solved
    assert [name for name, one in desk.judged.items() if one.outcome == "wrong"] == ["which"]
    assert desk.explanation() == ""
    desk.answer("which", "l1")
    assert "which" not in desk.judged, "an answer that was given since is not judged"
    assert desk.check().solved
    assert desk.explanation().startswith("# Mine: why")
    desk.change("smaller", "load.l1.size", "9MiB")
    assert {"smaller", "shorter"}.isdisjoint(desk.judged)
    assert main(["lesson", "start", "--list", "--dir", str(desk.at.folder.path)]) == 0
    assert "solved 20" in capsys.readouterr().out


def test_hints_go_on_where_the_terminal_was(desk, capsys):
    assert str(desk.hint("why")) == "why, hint 1 of 2: First hint."
    assert main(["lesson", "hint", "why", "--dir", str(desk.at.folder.path)]) == 0
    assert "hint 2 of 2: Second hint." in capsys.readouterr().out
    assert desk.hint("why").number == 2


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda desk: desk.answer("wich", "l1"), "no question 'wich' in this lesson (did you mean 'which'?)"),
        (lambda desk: desk.answer("smaller", "1"), "is answered by a change of smaller.toml"),
        (lambda desk: desk.change("smaller", "seed", 2), "'seed' must stay as it was: change only load.l1.size"),
        (lambda desk: desk.change("why", "seed", 2), "it asks for no change"),
        (lambda desk: desk.hint("wich"), "no question 'wich' in 01-mine, which asks expect, "),
        (lambda desk: desk.hint("which"), "the question 'which' has no hints"),
    ],
)
def test_a_mistake_is_refused(desk, act, says):
    with pytest.raises(InputError) as raised:
        act(desk)
    assert says in str(raised.value)


def test_an_answer_too_long_to_be_read_again_is_not_written(desk, directory):
    desk.answer("longest", "1 s")
    before = (directory / ANSWER).read_text()
    with pytest.raises(InputError, match="not saved: answer"):
        desk.answer("why", "é" * (1 << 15))
    assert (directory / ANSWER).read_text() == before


@pytest.mark.parametrize("text", ["who = ", "\xff", None])
def test_a_damaged_file_is_not_overwritten(desk, directory, text):
    path = directory / ANSWER
    path.unlink() if text is None else path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as raised:
        desk.answer("why", "so")
    assert ANSWER in str(raised.value)
    assert text is None or path.read_bytes() == text.encode("latin-1")


def test_runs_of_all_specs_and_seeds_are_found_as_far_as_they_were_made(desk):
    at = desk.at
    first = at.state.who.seed_of(at.lesson)

    def found(spec, results, resolve):
        return spec.seed if spec.seed == first or spec.load["l1"].size != 8 << 20 else None

    desk = Desk(replace(at, lesson=replace(at.lesson, seeds=2)), found=found)
    assert desk.runs() == {"spec.toml": [first, first + 1]}
    desk.change("smaller", "load.l1.size", "8MiB")
    assert desk.runs() == {"spec.toml": [first, first + 1], "smaller.toml": [first]}
    (at.folder.of(at.lesson) / "smaller.toml").write_text("no = ")
    assert desk.runs() == {"spec.toml": [first, first + 1]}
