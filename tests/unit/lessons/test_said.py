"""What a check says to do next."""

import argparse
from pathlib import Path

import pytest
from support.lessonbegun import begin

from wblab.lessons.check import Checked
from wblab.lessons.folder import Folder, LessonState
from wblab.lessons.judge import JudgedAnswer
from wblab.lessons.lesson import lessons
from wblab.lessons.verbs.lesson.answer import say
from wblab.lessons.verbs.lesson.begin import reset_arguments
from wblab.lessons.whereabouts import LessonPlace


@pytest.mark.parametrize(("number", "goes_on"), [(0, True), (-1, False)])
def test_a_solved_lesson_leads_to_the_next_if_there_is_one(number, goes_on, tmp_path, capsys):
    every = lessons()
    at = LessonPlace(Folder(tmp_path), LessonState("ada"), every, every[number])
    say(at, Checked([JudgedAnswer("why", "right", "right")], Path("run")))
    said = capsys.readouterr().out
    assert "wblab lesson show" in said
    assert ("wblab lesson start --next" in said) == goes_on


def test_reset_says_how_to_leave_the_directory_that_was_renamed(tmp_path, monkeypatch, capsys):
    at = begin(tmp_path)
    monkeypatch.chdir(at.directory)
    parser = argparse.ArgumentParser()
    reset_arguments(parser)
    arguments = parser.parse_args([])
    arguments.run(arguments)
    assert capsys.readouterr().out.splitlines()[-1] == "    cd ../01-mine"
