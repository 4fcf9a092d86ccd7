"""One value of a student's file is changed; what the student wrote around it stays."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import InputError
from wblab.lessons.check import patched
from wblab.lessons.folder import blank
from wblab.lessons.lesson import SPEC, lessons
from wblab.lessons.notebook.desk import with_answer, with_changes
from wblab.lessons.student import Student

ADA = Student("ada", "os")
LESSONS = lessons()
ANSWERS = """# A title
# Which is it?
#   mw1: the second
who = ""  # mine

longest = 1.5
why = "it says \\"no\\""
"""
SPEC_TEXT = """seed = 1
[disk]
queue = { wbt_lat_usec = 0 }  # no throttling

[sysctl]
"vm.dirty_ratio" = 20               # whoever writes has to wait

[load.l1]
block = "1KiB"
"""


def test_an_answer_is_replaced_and_comments_stay():
    changed = with_answer(ANSWERS, "who", "mw1")
    assert changed == ANSWERS.replace('who = ""', 'who = "mw1"')
    assert with_answer(changed, "longest", "1.6 s") == changed.replace("1.5", '"1.6 s"')


def test_an_answer_whose_line_is_missing_is_added():
    assert tomllib.loads(with_answer("# nothing\n", "why", "so")) == {"why": "so"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_an_answer(answer):
    for name in ("who", "why"):
        changed = with_answer(ANSWERS, name, answer)
        assert tomllib.loads(changed) == tomllib.loads(ANSWERS) | {name: answer}
        assert "# Which is it?\n#   mw1: the second\n" in changed


@pytest.mark.parametrize(
    ("changes", "has"),
    [
        ({"load.l1.idle": "1ms"}, 'idle = "1ms"'),
        ({"load.l1.block": "2KiB"}, 'block = "2KiB"'),
        ({"load.l1.block": None}, "[load.l1]"),
        ({"disk.queue.nr_requests": 4}, "nr_requests = 4"),
        ({"disk.queue.wbt_lat_usec": 5000}, "# no throttling"),
        ({"sysctl.vm.dirty_bytes": "8MiB", "sysctl.vm.dirty_ratio": None}, '"vm.dirty_bytes" = "8MiB"'),
        ({"sysctl.vm.dirty_ratio": 30}, "# whoever writes has to wait"),
        ({"cgroup.slow.files.memory.high": "8M"}, "8M"),
        ({"kernel": "6.1"}, 'kernel = "6.1"'),
        ({"load.l2.idle": None}, "seed"),
    ],
)
def test_keys_of_a_spec_are_changed_where_they_are(changes, has):
    changed = with_changes(SPEC_TEXT, changes)
    assert has in changed
    expected = patched(tomllib.loads(SPEC_TEXT), changes)
    expected["load"].pop("l2", None)
    assert tomllib.loads(changed) == expected


@pytest.mark.parametrize(
    "queue", ["queue.wbt_lat_usec = 0", "[disk.queue]\nwbt_lat_usec = 0", "queue = {wbt_lat_usec = 0}"]
)
def test_a_queue_is_changed_however_it_is_written(queue):
    text = f"[disk]\nsize = 1\n{queue}\n\n[load.l1]\nfile = 'l1'\n"
    changed = tomllib.loads(with_changes(text, {"disk.queue.nr_requests": 4}))
    assert changed["disk"] == {"size": 1, "queue": {"wbt_lat_usec": 0, "nr_requests": 4}}
    assert changed["load"] == {"l1": {"file": "l1"}}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_files_of_every_lesson_can_be_changed(lesson):
    answers, spec = blank(lesson, ADA), ADA.text(lesson, SPEC)
    comments = [line for line in spec.splitlines() if line.startswith("#")]
    for name, question in lesson.question.items():
        if question.kind != "change":
            assert tomllib.loads(with_answer(answers, name, "it")) == tomllib.loads(answers) | {name: "it"}
            continue
        for key in question.allowed:
            for value in ("5ms", 3, None):
                changed = with_changes(spec, {key: value})
                assert [line for line in changed.splitlines() if line.startswith("#")] == comments


@pytest.mark.parametrize("text", ["who = ", "who = 1\nwho = 2\n", "\0", "[load]\nl1 = 3\n"])
def test_a_file_that_cannot_be_changed_is_refused(text):
    with pytest.raises(InputError):
        with_changes(text, {"load.l1.idle": "1ms"})
