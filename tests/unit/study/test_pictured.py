"""The pictures of a study: which run stands for a cell, which cells are drawn, and where reports have them."""

import re

import pytest
from support.runs import MS, S, write_run_of

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.plot.style import DARK
from wblab.report.page import page
from wblab.report.report import Report
from wblab.report.text import lines
from wblab.study.pictured import drawn_cells, heat_of_cells, lanes_of_cells, study_picture, with_pictures
from wblab.study.store import pack


@pytest.fixture
def make_study(make_store, tmp_path):
    """Return a function that makes a study of some cells; it is given how long mw1 froze with each seed, in s."""

    def make(freezes_s):
        axes = {"x": {f"level {at}": {"load.l1.size": f"{at + 1}MiB"} for at in range(len(freezes_s))}}
        store = make_store(axes, base="base", seeds=len(freezes_s[0]), set={"trace.events": []})
        for cell, of in zip(store.plan.cells, freezes_s, strict=True):
            for seed, freeze_s in enumerate(of, 1):
                times = {name: [0, 50 * MS, 100 * MS] for name in cell.spec.load}
                times["mw1"] = [0, 100 * MS, int(freeze_s * S) + 200 * MS]
                made = write_run_of(cell.with_seed(seed), tmp_path / f"{cell.name}-{seed}", times)
                store.done(cell, seed, store.keep(cell, seed, pack(made)))
        return store

    return make


def test_of_a_cell_the_run_with_the_median_longest_freeze_is_drawn_and_its_seed_said(make_study):
    store = make_study([[9, 1, 4], [2, 8, 3]])
    drawn = lanes_of_cells(drawn_cells(store))
    assert [(lanes.title, lanes.longest_ns / S) for lanes in drawn] == [
        ("level 0 (seed 3)", 4.0),
        ("level 1 (seed 3)", 3.0),
    ]


def test_of_many_cells_those_are_drawn_that_lie_evenly_between_both_ends(make_study):
    store = make_study([[20 - at] for at in range(20)])
    shown = [each.label for each in drawn_cells(store, [store.plan.cells[4].name])]
    assert len(shown) == 8
    assert {"level 0", "level 4", "level 1", "level 19"} <= set(shown)
    assert shown == sorted(shown, key=lambda label: int(label.split()[1]))


def test_a_heat_map_has_all_seeds_of_a_cell(make_study):
    cells = drawn_cells(make_study([[9, 1, 4], [2, 8, 3]]))
    maps = heat_of_cells(cells, "mw1")
    assert {title: found.per_length.sum() for title, found in maps.items()} == {
        "level 0, 3 seeds": 6,
        "level 1, 3 seeds": 6,
    }
    assert {found.edges_ns[-1] for found in maps.values()} == {int(9.2 * S)}  # on the same axes
    with pytest.raises(InputError, match=r"no innocent load 'mw2' \(did you mean 'mw1'\?\)|no innocent load 'mw2'"):
        heat_of_cells(cells, "mw2")


def test_a_report_has_them_first_on_its_page_alone_and_dark_where_the_page_is(make_study):
    report = Report("a study", "It helps.", ("More.",))
    pictured = with_pictures(report, make_study([[1], [2]]))
    assert lines(pictured) == lines(report)
    text = page(pictured)
    assert text.count('<svg class="narrow themed"') == 2
    assert text.index("<svg") < text.index("More.")
    used = set(re.findall(r"var\(--(of-[0-9a-f]{6})\)", text))
    assert {"of-ffffff", "of-b3261e", "of-4a99de"} <= used <= {f"of-{colour[1:].lower()}" for colour in DARK}


def test_a_study_that_kept_no_runs_has_no_picture(make_store):
    report, store = Report("a study", "It helps.", ()), make_store({})
    assert with_pictures(report, store) is report
    with pytest.raises(InputError, match="kept no runs"):
        study_picture(store, "")


def test_the_command_draws_a_study_or_names_what_a_study_has(make_study, capsys):
    path = make_study([[1], [2]]).path
    for panes in ("", "heat", "heat mw1"):
        assert main(["timeline", str(path), "--panes", panes]) == 0
        assert capsys.readouterr().out == f"{path / 'timeline.png'}\n"
    assert main(["timeline", str(path), "--panes", "dirty"]) == 2
    assert "of a study there are lanes, heat, and heat LOAD" in capsys.readouterr().err
    assert main(["timeline", str(path), "--around", "longest"]) == 2
    assert f"{path} is a study: name one of its runs" in capsys.readouterr().err
