"""The list of the docs' figures: every one stands on its page, and a page that shows another value is seen."""

import pytest
from figures import DOCS, Figure, Value, figures, write

PAIR = "two", (("remedy", "none"),)


@pytest.fixture
def figure(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Other\n\n| none | 1.0 s | 9 |\n\n# Here\n\n| none | 2.0 s (1.0 to 3.0) | 1.16 |\n")
    values = (
        Value(*PAIR, "longest_pause_s", ("w1", "w2"), unit=" s"),
        Value(*PAIR, "throughput_bps", ("l1",), shown="median"),
    )
    return Figure("it", page, "# Here", "| none | {} | {} |", values)


def found(*pauses: tuple[float, float]):
    runs = [
        {("w1", "longest_pause_s"): one, ("w2", "longest_pause_s"): two, ("l1", "throughput_bps"): 1.16e6}
        for one, two in pauses
    ]
    return {PAIR: runs}


@pytest.mark.parametrize("figure", figures(), ids=lambda figure: figure.name)
def test_every_figure_stands_on_its_page(figure):
    assert len(figure.shown()) == len(figure.values)


def test_pages_have_no_row_in_a_listed_table_that_is_not_listed():
    for name in {figure.name.split(":")[0] for figure in figures()}:
        rows = [one for one in figures() if one.name.startswith(f"{name}:") and one.text.startswith("|")]
        if rows:
            page = rows[0].page.read_text()
            table = page[rows[0].stands().start() :].split("\n\n")[0]
            assert len(table.splitlines()) == len(rows), name


def test_a_value_is_the_same_number_wherever_it_stands():
    medians: dict[tuple[object, ...], dict[str, str]] = {}
    for figure in figures():
        for value, shown in zip(figure.values, figure.shown(), strict=True):
            which = value.matrix, frozenset(value.levels), value.metric, frozenset(value.loads), value.is_sum
            medians.setdefault(which, {})[f"{figure.page.name}, {figure.name}"] = shown.split()[0]
    several = [places for places in medians.values() if len(places) > 1]
    assert len(several) > 5
    assert [places for places in several if len(set(places.values())) > 1] == []


def test_a_value_is_that_of_the_worst_load_over_all_seeds(figure):
    assert figure.words(found((1.0, 2.0), (0.5, 0.25), (12.34, 3.0))) == ["2.0 s (0.50 to 12.3)", "1.16"]


def test_a_value_may_be_the_sum_of_loads():
    value = Value(*PAIR, "longest_pause_s", ("w1", "w2"), shown="median", is_sum=True)
    assert value.words(found((1.0, 2.0), (0.5, 0.25), (12.0, 3.0))) == "3.0"


def test_a_figure_below_another_heading_is_not_taken_for_it(figure):
    assert figure.shown() == ["2.0 s (1.0 to 3.0)", "1.16"]


def test_a_page_that_shows_another_value_is_written_anew_and_nothing_else_of_it(figure):
    before = figure.page.read_text()
    assert write(figure, found((1.0, 2.0), (3.0, 1.0), (1.0, 1.5)))
    assert figure.page.read_text() == before.replace("2.0 s (1.0 to 3.0)", "2.0 s (1.5 to 3.0)")
    assert not write(figure, found((1.0, 2.0), (3.0, 1.0), (1.0, 1.5)))


def test_a_row_that_the_page_does_not_have_is_said(figure):
    gone = Figure("it", figure.page, "# Here", "| some | {} |", figure.values[:1])
    with pytest.raises(LookupError, match=r"page.md has no '\| some"):
        gone.stands()


def test_short_times_are_told_in_milliseconds():
    value = Value(*PAIR, "longest_pause_s", ("w1",), shown="time")
    assert [value.words(found((one, 0.0))) for one in (0.0014, 0.0083, 0.2, 9.25)] == [
        "1.4 ms",
        "8.3 ms",
        "0.20 s",
        "9.2 s",
    ]


def test_pages_of_figures_are_pages_of_the_docs():
    assert all(DOCS.parent in one.page.resolve().parents for one in figures())
