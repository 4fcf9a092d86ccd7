"""What a lecture shows: a lesson's run, and those of its reference answers."""

import pytest

from wblab.lessons.lesson import lessons
from wblab.lessons.proof import lecture
from wblab.lessons.runs import Student


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_a_run_and_one_for_each_change(lesson):
    found = dict(lecture(lesson, Student("lecture")))
    changes = [name for name, question in lesson.question.items() if question.kind == "change"]
    assert list(found) == [lesson.name, *(f"{lesson.name}-{name}" for name in changes)]
    assert len({str(spec) for spec in found.values()}) == len(found)
    assert {spec.seed for spec in found.values()} == {Student("lecture").seed_of(lesson)}
