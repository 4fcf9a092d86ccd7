"""A lesson's folder is read, or refused in one line."""

import re
import shutil

import pytest

from wblab.core.errors import InputError
from wblab.lab.places import ROOT
from wblab.lessons.folder import blank
from wblab.lessons.lesson import EXPLANATION, LECTURER, LESSON, SPEC, TEMPLATE, TEXT, find, lessons, read_lesson
from wblab.lessons.runs import changed, original, spec
from wblab.lessons.student import Student

OWN = lessons()


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(TEMPLATE, tmp_path / "01-mine")


def test_the_lab_has_lessons_in_order():
    assert [lesson.name for lesson in OWN] == sorted(lesson.name for lesson in OWN)
    assert OWN[0].name == "01-page-cache"


@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.name)
def test_texts_and_specs_are_filled_for_every_student(lesson):
    for number in range(50):
        student = Student(f"student {number}", "course")
        assert "$" not in student.text(lesson, TEXT) + student.text(lesson, EXPLANATION)
        assert spec(lesson, student).seed == student.seed_of(lesson)
        assert student.questions(lesson).keys() == lesson.question.keys()
    assert lesson.read(LECTURER).startswith(f"# {lesson.title}: for lecturers\n")
    assert lesson.minutes in range(20, 46)


@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.name)
def test_a_text_and_its_answers_fit_into_80_columns(lesson):
    ada = Student("ada")
    lines = (student_text := ada.text(lesson, TEXT)).splitlines() + blank(lesson, ada).splitlines()
    assert student_text.startswith(f"# {lesson.title}\n")
    assert [line for line in lines if len(line) > 80 and not line.startswith("    ")] == []


@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.name)
def test_students_differ_in_seed_and_in_numbers(lesson):
    specs = [original(lesson, Student(f"student {number}", "course")) for number in range(200)]
    assert len({table["seed"] for table in specs}) > 190
    for name, of in lesson.vary.items():
        drawn = [Student(f"student {number}", "course").values(lesson)[name] for number in range(1000)]
        assert set(drawn) == set(of)
    assert original(lesson, Student("ada", "one")) == original(lesson, Student("ada", "one"))
    assert original(lesson, Student("ada", "one"))["seed"] != original(lesson, Student("ada", "two"))["seed"]


def test_what_varies_is_listed_or_a_range_of_numbers(folder):
    file = folder / LESSON
    file.write_text(file.read_text().replace("[vary]", '[vary]\nrate = ["90 to 101 by 5", "7", "9 to x"]'))
    assert read_lesson(folder).vary["rate"] == ("90", "95", "100", "7", "9 to x")


@pytest.mark.parametrize("text", ["1", "01", "01-page-cache"])
def test_a_lesson_is_found_by_number_or_name(text):
    assert find(text, OWN).name == "01-page-cache"


def test_another_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"no lesson '01-page-cash' \(did you mean '01-page-cache'\?\)"):
        find("01-page-cash", OWN)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "A title"', "", "'title' is missing"),
        ('title = "A title"', "titel = 1", "unknown key 'titel' (did you mean 'title'?)"),
        ("[question.expect]", "[question.Expect]", "question.Expect: a question's name has small letters"),
        (
            'kind = "number"',
            'kind = "choice"',
            "question.longest: a question of the kind choice lacks what it is judged by",
        ),
        ('kind = "number"', 'kind = "essay"', "question.longest.kind: 'essay' is not one of"),
        ('unit = "s"', 'unit = "h"', "no unit 'h'"),
        ('least = "100ms"', 'least = "soon"', "'soon' is no number"),
        ("[[point]]", "[[point", "is not a TOML file"),
    ],
)
def test_a_lesson_that_does_not_fit_is_refused(folder, old, new, says):
    text = (folder / LESSON).read_text()
    assert old in text
    (folder / LESSON).write_text(text.replace(old, new))
    with pytest.raises(InputError) as caught:
        read_lesson(folder)
    assert says in str(caught.value)
    assert LESSON in str(caught.value)


def test_a_missing_file_is_named(folder):
    (folder / SPEC).unlink()
    with pytest.raises(InputError, match=r"01-mine has no spec\.toml"):
        read_lesson(folder)


def test_a_name_that_does_not_vary_is_named(folder):
    (folder / TEXT).write_text("It costs $price.")
    with pytest.raises(InputError, match=r"text\.md: 'price': \$ begins a name of vary"):
        Student("ada").text(read_lesson(folder), TEXT)


def test_a_set_without_lessons_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no lessons"):
        lessons(tmp_path)
    with pytest.raises(InputError, match="cannot read the set of lessons"):
        lessons(tmp_path / "none")


def test_a_table_without_entries_is_no_change():
    lesson, ada = find("2", OWN), Student("ada")
    table = original(lesson, ada)
    assert changed(lesson, ada, table | {"cgroup": {"copy": {"files": {}}}}, ()) == {}


def test_the_docs_list_all_lessons():
    rows = re.findall(r"^\| (\d\d-[\w-]+) \| (\d+) \|", (ROOT / "docs/how-to/lessons.md").read_text(), re.MULTILINE)
    assert rows == [(lesson.name, str(lesson.minutes)) for lesson in OWN]
    said = re.findall(r"^\| (\d+) \| ", (ROOT / "docs/teaching/sentences.md").read_text(), re.MULTILINE)
    assert set(map(int, said)) == {int(lesson.name[:2]) for lesson in OWN}
