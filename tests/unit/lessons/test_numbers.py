"""Numbers as people write them."""

import pytest

from wblab.core.errors import InputError
from wblab.lessons.numbers import Number, cited, read, unit_of, written


@pytest.mark.parametrize(
    ("answer", "unit", "value"),
    [
        (1.3, "s", 1.3),
        ("1.3", "s", 1.3),
        (" 1.3 s ", "s", 1.3),
        ("1300ms", "s", 1.3),
        ("14", "MiB", 14 << 20),
        ("14336 KiB", "MiB", 14 << 20),
        ("40 %", "%", 0.4),
        (7, "", 7),
    ],
)
def test_a_number_is_read_in_its_own_unit_or_the_question_s(answer, unit, value):
    assert read(answer, unit).value == pytest.approx(value)


@pytest.mark.parametrize("answer", ["", "long", "1,3", "-1", "1e99", "1" * 50, True, 10**400, float("nan"), [1], -2])
def test_what_is_no_number_is_refused_with_an_example(answer):
    with pytest.raises(InputError, match=r'is no number: write for example "1\.5 s"$'):
        read(answer, "s")


@pytest.mark.parametrize(("answer", "unit"), [("3 MiB", "s"), ("3 s", "MiB"), ("3 MiB", "MiB/s"), ("3 s", "")])
def test_another_kind_of_unit_is_refused(answer, unit):
    with pytest.raises(InputError, match=r"^'3 .*' is not in "):
        read(answer, unit)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.3189, "s", "1.32 s"),
        (0.0045, "s", "0.00450 s"),
        (28 << 20, "MiB", "28.0 MiB"),
        (0, "s", "0 s"),
        (1234, "", "1234"),
    ],
)
def test_a_figure_is_written_with_three_digits(value, unit, text):
    assert written(value, unit) == text


def test_numbers_in_a_sentence_are_found_with_their_units():
    text = "mw1 slept 1.32 s (in all 10s) at 27.6 MiB; l2 had 40% and v1.2.3 nothing, at 900 KiB/s"
    found = [one.value for one in cited(text)]
    assert found == pytest.approx([1.32, 10, 27.6 * (1 << 20), 0.4, 900 << 10])
    assert [one.value for one in cited("in 3 of 4", "ms")] == pytest.approx([0.003, 0.004])


def test_units_at_the_end_of_a_text():
    assert [unit_of(text) for text in ("3KiB/s", "300ms", "3 s", "7", "4MiB")] == ["KiB/s", "ms", "s", "", "MiB"]


def test_near_is_a_share_of_the_figure():
    assert Number(1.04).is_near(1.0, 5)
    assert not Number(1.06).is_near(1.0, 5)
    assert Number(0).is_near(0, 5)


@pytest.mark.parametrize(
    ("answer", "figure", "near"),
    [
        ("0.004 s", 0.00442, True),
        ("4 ms", 0.00442, True),
        ("0.005", 0.00442, False),
        ("1.3", 1.3446, True),
        ("1", 1.32, False),
        ("0.0", 0.00442, False),
        (0.004, 0.00442, True),
    ],
)
def test_a_rounded_figure_is_near_unless_little_is_left_of_it(answer, figure, near):
    assert read(answer, "s").is_near(figure, 2) is near
