"""Where a student is, in a folder."""

from wblab.lessons.folder import Folder, LessonState
from wblab.lessons.lesson import lessons
from wblab.lessons.student import Student
from wblab.lessons.whereabouts import place_in


def test_a_lesson_is_the_one_around_or_else_the_current_one(tmp_path, monkeypatch):
    first, second = lessons()[:2]
    folder = Folder(tmp_path)
    for one in (first, second):
        folder.start(one, Student("ada"))
    folder.keep(LessonState("ada", current=second.name))
    within = folder.of(first) / "finding"
    within.mkdir()
    for here, wanted, lesson in (
        (tmp_path, "", second),
        (folder.of(first), "", first),
        (within, "", first),
        (within, "2", second),
    ):
        monkeypatch.chdir(here)
        assert place_in(folder, wanted).lesson.name == lesson.name
