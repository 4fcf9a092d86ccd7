"""The widgets of a spec's keys show what the file says, and write what is set."""

import pytest

from wblab.lab.specfile import spec_of
from wblab.lessons.check import patched
from wblab.lessons.lesson import lessons
from wblab.lessons.notebook.keys import SCALES, typed, value_of
from wblab.lessons.notebook.questionwidget import AnswerWidget, of_key
from wblab.lessons.runs import original
from wblab.lessons.student import Student

BYTES = "sysctl.vm.dirty_bytes"
ADA = Student("ada")


@pytest.fixture
def widget():
    """Return what makes a widget, and the list of what it wrote."""

    def made(key, value):
        written = []
        return AnswerWidget(of_key(key), value, written.append), written

    return made


def test_a_threshold_is_a_number(widget):
    key, written = widget(BYTES, "12MiB")
    chosen, number = key.box.children
    assert (chosen.value, number.value) == (True, 12)
    number.value = 10.25
    number.value = 8
    chosen.value = False
    assert written == ["10496KiB", "8MiB", None]
    assert number.disabled


def test_a_key_that_is_not_set_is_written_once_it_is_chosen(widget):
    key, written = widget("disk.queue.nr_requests", None)
    chosen, number = key.box.children
    assert number.disabled
    chosen.value = True
    number.value = 4
    number.value = 1000
    assert written == [64, 4, 256]


def test_the_bytes_of_a_queue_are_two_numbers(widget):
    key, written = widget("disk.queue.max_sectors_kb", None)
    chosen, number = key.box.children
    chosen.value = True
    number.value = 128
    assert written == [512, 128]


def test_what_the_file_says_is_shown_and_not_written(widget):
    key, written = widget("sysctl.vm.dirty_ratio", 20)
    key.show(35)
    assert [part.value for part in key.box.children] == [True, 35]
    key.show(None)
    assert not key.box.children[0].value
    assert written == []


@pytest.mark.parametrize("value", ["1TiB", "a lot", [1], 0])
def test_a_value_beside_the_scale_is_shown_as_text(widget, value):
    key, written = widget(BYTES, value)
    (text,) = key.box.children
    assert text.value == str(value)
    text.value = "16MiB"
    assert written == ["16MiB"]


def test_any_other_key_is_a_text_field(widget):
    key, written = widget("load.l1.idle", None)
    (text,) = key.box.children
    for given in ("5ms", " 7 ", ""):
        text.value = given
    assert written == ["5ms", 7, None]


@pytest.mark.parametrize(
    ("text", "value"),
    [("", None), ("  ", None), ("12", 12), ("1ms", "1ms"), ("-1", "-1"), (' "8M" ', "8M"), ('""', None)],
)
def test_typed(text, value):
    assert typed(text) == value


@pytest.mark.parametrize("key", SCALES)
def test_all_that_a_number_can_say_is_a_valid_spec(key):
    scale = SCALES[key]
    twin = {"bytes": "ratio", "ratio": "bytes"}.get(key.rpartition("_")[2])
    lesson = lessons()[0]
    table = original(lesson, ADA)
    for position in (scale.least, scale.start, scale.most, scale.least + scale.step):
        value = scale.write(position)
        assert scale.position(value) == pytest.approx(position, abs=scale.step / 2)
        changes = {key: value} | ({key.rpartition("_")[0] + f"_{twin}": None} if twin else {})
        changed = patched(table, changes)
        spec_of({"name": lesson.name} | changed, exact=False)
        assert value_of(changed, key) == value


def test_a_key_that_is_nowhere_has_no_value():
    assert value_of({"load": {"l1": 3}}, "load.l1.idle") is None
