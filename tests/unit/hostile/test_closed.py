"""A directory among the results, or a student's folder, that one may not read: the others are used, in one line."""

import shutil

import pytest
from support.closed import as_ordinary_user, room

from wblab.analysis.runs.run import failed_since, find_run
from wblab.cli import main
from wblab.core.errors import InputError
from wblab.live.advise.advicefile import latest_advice

VERBS = (["why", "--pauses", "latest"], ["why", "--pauses", "open"], ["runs"])


@pytest.fixture
def results(originals):
    """Return a directory of results: a run, and beside it what is closed."""
    with room() as place:
        shutil.copytree(originals / "guest_run", place / "2026-01-01_open")
        for name in ("2026-02-02_closed", "_2026-02-03_failed", "2026-03-03_record", "2026-03-04_study", "z_advice"):
            shutil.copytree(originals / "guest_run", place / name)
        (place / "z_advice" / "advice.json").write_text("{}")
        (place / "2026-03-04_study" / "study.json").write_text("{}")
        for path in place.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (place / "2026-03-03_record" / "experiment.json").chmod(0)
        for name in ("2026-02-02_closed", "_2026-02-03_failed", "2026-03-04_study", "z_advice"):
            (place / name).chmod(0)
        yield place


@pytest.mark.parametrize("words", VERBS, ids=[" ".join(words) for words in VERBS])
def test_what_is_closed_does_not_end_a_verb(results, words, capsys):
    main([*words, "--exp", str(results)])  # all that it imports is imported before we are an ordinary user
    capsys.readouterr()
    with as_ordinary_user():
        code = main([*words, "--exp", str(results)])
    assert (code, capsys.readouterr().err) == (0, "")


def test_the_latest_run_is_one_that_we_may_read(results):
    with as_ordinary_user():
        found = find_run("latest", results)
        assert found.name == "2026-01-01_open"
        assert failed_since(found) is None
        assert find_run("open", results) == found
        with pytest.raises(InputError, match="no run"):
            find_run("nonsense", results)
        with pytest.raises(InputError, match="no study of wblab advise"):
            latest_advice(results)


@pytest.mark.parametrize(
    "words",
    [
        ["study", "--resume"],
        ["advise", "--resume"],
        ["why", "--pauses"],
        ["compare"],
        ["pack", "--site", "OUT"],
        ["pack"],
    ],
)
def test_a_closed_directory_that_is_named_is_one_line(results, words, capsys):
    named = [str(results / "2026-02-02_closed") if word != "OUT" else str(results / "out") for word in [*words, ""]]
    command = [words[0], *([word for word in words[1:] if word != "OUT"]), named[0]]
    command += ["-o", str(results / "out")] if words[0] in ("site", "pack") else []
    main(command)
    capsys.readouterr()
    with as_ordinary_user():
        code = main(command)
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith("wblab: ")
