from itertools import combinations

from wblab.core.loads import Command, Control, MultiWrite, Offender, Write
from wblab.plot.artists import new_axes, new_figure
from wblab.plot.style import (
    CONTROL,
    DIRTY,
    FROZEN,
    INNOCENT,
    LIMIT,
    MARK,
    OFFENDERS,
    PAUSE,
    SERIES,
    THRESHOLD,
    WORKING,
    WRITEBACK,
    load_colours,
    on_dark,
    task_colours,
)
from wblab.report.palette import contrast


def test_a_load_has_the_colour_of_its_role_in_the_order_of_the_spec():
    colours = load_colours({"c1": Control, "w1": Write, "l1": Offender, "mw1": MultiWrite, "x": Command})
    assert colours == {
        "c1": CONTROL,
        "w1": INNOCENT[0],
        "l1": OFFENDERS[0],
        "mw1": INNOCENT[1],
        "x": OFFENDERS[1],
    }


def test_more_loads_than_colours_all_have_one_and_nobody_has_that_of_a_pause():
    colours = load_colours(
        {f"w{number}": Write for number in range(50)} | {f"l{number}": Offender for number in range(50)}
    )
    assert len(colours) == 100
    assert PAUSE not in colours.values()


def test_a_task_of_a_load_has_the_load_s_colour_and_others_one_that_no_load_has():
    loads = {"w1": SERIES[0], "l1": "#6B6B6B"}
    colours = task_colours(["kworker", "w1", "bash", "bash", "bash"], loads)
    assert list(colours) == ["bash", "kworker", "w1"]
    assert colours["w1"] == SERIES[0]
    assert colours["bash"] == SERIES[1]
    assert len(set(colours.values())) == 3


def test_the_most_frequent_tasks_have_a_colour():
    tasks = [f"task-{number:02}" for number in range(20) for _ in range(20 - number)]
    assert task_colours(tasks, {}) == {f"task-{number:02}": colour for number, colour in enumerate(SERIES)}


_PNG = b"\x89PNG\r\n\x1a\n"


def test_a_figure_shows_itself_in_a_notebook_without_pyplot():
    assert new_figure(2)._repr_png_().startswith(_PNG)
    assert new_axes().figure._repr_png_().startswith(_PNG)


def test_what_a_dark_page_shows_can_be_seen_and_greys_differ():
    page = on_dark("#FFFFFF")
    marks = {*INNOCENT, *OFFENDERS, *SERIES, CONTROL, PAUSE, WORKING, FROZEN, MARK, LIMIT, THRESHOLD, DIRTY, WRITEBACK}
    assert {colour for colour in marks if contrast(on_dark(colour), page) < 3} == set()
    for paper in (OFFENDERS, [on_dark(colour) for colour in OFFENDERS]):
        assert min(contrast(*pair) for pair in combinations(paper, 2)) > 1.5
