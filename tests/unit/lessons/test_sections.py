"""Questions and looks stand in the section whose text names them."""

import pytest
from support.lessonbegun import begin

from wblab.lessons.lesson import TEXT, lessons
from wblab.lessons.sections import SectionLook, sections
from wblab.lessons.student import Student

ADA = Student("ada", "os")
OWN = lessons()


def test_a_text_is_split_at_its_headings(tmp_path):
    at = begin(tmp_path)
    questions = at.state.who.questions(at.lesson)
    found = sections(at.state.who.text(at.lesson, TEXT), questions)
    assert [one.heading for one in found] == ["", "1. Predict", "2. Look", "3. Explain", "4. Change"]
    assert found[0].text.startswith("# A title")
    assert "## no heading" in found[3].text
    assert [one.questions for one in found[:3]] == [(), ("expect",), ("longest", "which", "shorter")]
    assert [one.questions for one in found[3:]] == [("why",), ("smaller",)]
    assert [one.looks for one in found[2:]] == [
        (SectionLook("pauses"),),
        (SectionLook("why"), SectionLook("why", evidence=True), SectionLook("printed", words="MiB")),
        (SectionLook("timeline", of="smaller", around="l1"),),
    ]


@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.name)
def test_the_sections_of_each_lesson_have_its_whole_text_and_all_questions(lesson):
    text, questions = ADA.text(lesson, TEXT), ADA.questions(lesson)
    found = sections(text, questions)
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())
    assert sorted(name for one in found for name in one.questions) == sorted(questions)
    before = next(place for place, one in enumerate(found) if "Predict" in one.heading)
    assert not any(one.questions for one in found[:before])
    for name, question in questions.items():
        (place,) = (one for one in found if name in one.questions)
        if question.kind in ("predict", "change"):
            assert question.kind in place.heading.lower() or (question.of or question.kind == "change")
    assert any(one.looks for one in found)


def test_without_any_step_all_questions_stand_at_the_end(tmp_path):
    at = begin(tmp_path)
    questions = at.state.who.questions(at.lesson)
    (only,) = sections("# Nothing is said", questions)
    assert only.questions == tuple(questions)


SERIES = """
## 1. Look

    ls -d ../exp/*_mine | xargs -n 1 wblab why --pauses |
        grep '^w-fast  *write' | cut -c -60
    wblab compare ../exp/*_mine --load w1 --metric longest_pause_s --by disk.scheduler
    less notes.txt
    wblab kernel build 7.2+mine
    wblab kernel build 7.2+theirs
    wblab bisect HEAD~4 HEAD
    rm -r notes
    wblab run spec.toml
    balance_dirty_pages():  dirty > limit ?
"""


def test_looks_at_all_runs_and_what_only_a_terminal_does():
    (_, look) = sections(SERIES, {})
    assert look.looks == (
        SectionLook("seeds", load="w-fast"),
        SectionLook("compare", load="w1", metric="longest_pause_s", by="disk.scheduler"),
    )
    assert look.terminal == ("less", "wblab kernel build", "wblab bisect", "rm")


def test_the_latest_run_is_also_that_of_the_section_before(tmp_path):
    at = begin(tmp_path)
    text = "## 1. Look\n\n    wblab run smaller.toml\n\n## 2. Explain\n\n    wblab why latest\n"
    *_, explain = sections(text, at.state.who.questions(at.lesson))
    assert explain.looks == (SectionLook("why", of="smaller"),)


def test_why_of_one_load():
    (_, explain) = sections("## 1. Explain\n\n    wblab why latest --load w1\n", {})
    assert explain.looks == (SectionLook("why", load="w1"),)
