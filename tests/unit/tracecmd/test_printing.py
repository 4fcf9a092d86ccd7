import pytest
from tracecmd import TraceError
from tracecmd.printing import Meaning, meanings

FLAGS = (
    '"%s", __print_flags(REC->flags, "|", '
    '{ (1 << 0), "READ" }, { 0x2UL, "WRITE" }, { (( gfp_t)4u), "SYNC" }, { 010, "META" })'
)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0x0"), (1, "READ"), (3, "READ|WRITE"), (4, "SYNC"), (8, "META"), (17, "READ|0x10"), (64, "0x40")],
)
def test_flags(number, text):
    assert meanings(FLAGS)["flags"].text(number) == text


def test_a_name_for_no_flag():
    found = meanings('"%s", __print_flags(REC->f, ",", { 0, "NONE" }, { 1, "A" })')["f"]
    assert [found.text(0), found.text(1)] == ["NONE", "A"]


def test_flags_of_several_bits_come_before_their_parts():
    found = meanings('"%s", __print_flags(REC->f, "|", { 3, "BOTH" }, { 1, "A" }, { 2, "B" })')["f"]
    assert [found.text(3), found.text(2)] == ["BOTH", "B"]


def test_symbols():
    found = meanings('"%s %d", __print_symbolic(REC->reason, { 0, "background" }, { 1, "vmscan" }), REC->other')
    assert list(found) == ["reason"]
    assert [found["reason"].text(number) for number in (0, 1, 9)] == ["background", "vmscan", "0x9"]


def test_part_of_a_field():
    found = meanings('"%s", __print_symbolic((((REC->ioprio) >> 13) & (8 - 1)), { IOPRIO_CLASS_IDLE, "idle" })')
    assert found["ioprio"].text(3 << 13 | 4) == "idle"


def test_names_that_the_kernel_left():
    found = meanings('"%s", __print_flags(REC->state, "|", {I_DIRTY_SYNC, "I_DIRTY_SYNC"}, {I_SYNC, "I_SYNC"})')
    assert found["state"].text(1 << 4 | 1 << 1) == "I_DIRTY_SYNC|I_SYNC"


def test_names_that_only_the_kernel_knows_are_not_guessed():
    error = meanings('"%s", __print_symbolic(REC->x, { 0, "zero" }, { SECRET, "secret" })')["x"]
    assert isinstance(error, TraceError)
    assert "'SECRET'" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"%d", REC->x',
        '"%s", __print_flags(',
        '"%s", __print_symbolic(REC->a + REC->b, { 0, "x" })',
        '"%s", __print_symbolic(0, { 0, "x" })',
    ],
)
def test_what_is_no_table_of_one_field(text):
    assert meanings(text) == {}


def test_commas_and_brackets_in_names():
    found = meanings('"%s", __print_symbolic(REC->x, { 0, "a, (b" }, { 1, "c }" })')["x"]
    assert isinstance(found, Meaning)
    assert [found.text(0), found.text(1)] == ["a, (b", "c }"]
