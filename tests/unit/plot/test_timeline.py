from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from support.panes import in_order

from wblab.analysis.runs.pauses import Window
from wblab.core.errors import InputError, WblabError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.plot.artists import plot_pane
from wblab.plot.loadpanes import control_pane
from wblab.plot.picture import FORMATS, picture, save
from wblab.plot.style import GRID, INNOCENT, LOST, OFFENDERS, PAUSE
from wblab.plot.timeline import MOST_GUIDES, start_labels, timeline, title

MS = 1_000_000


def draw(*of, **how):
    return picture(timeline(*of, **how))


def rules(ax, *, dashed):
    """Return the positions of vertical lines across a pane: the dashed ones, or the others."""
    found = [item for item in ax.collections if isinstance(item, LineCollection)]
    chosen = [item for item in found if (item.get_linestyle()[0][1] is not None) == dashed]
    return sorted({at for item in chosen for at in rules_at(item)})


def rules_at(lines):
    return [float(segment[0][0]) for segment in lines.get_segments()]


def panes(figure):
    return {ax.get_title(loc="left"): ax for ax in figure.axes}


def test_panes_of_the_page_cache_lie_between_control_and_the_other_loads(run, cache):
    first, *between, write, multiwrite, last = panes(draw(run, cache))
    assert (first, write, multiwrite, last) == ("clock c1", "editor w1", "mail mw1", "copy l1")
    assert in_order(["events", "dirty state", "throttling", "rate limits"], between)  # whatever panes there are besides


def test_what_was_not_traced_has_no_pane(run, cache):
    cache.throttling = cache.throttling.where(slice(0, 0))
    assert in_order(["events", "dirty state"], panes(draw(run, cache)))
    assert "throttling" not in panes(draw(run, cache))


def test_lost_events_are_shaded_on_every_pane_and_explained(run, cache):
    figure = draw(run, cache)
    for ax in figure.axes:
        spans = [patch for patch in ax.patches if patch.get_facecolor()[:3] == to_rgb(LOST)]
        assert [(span.get_x(), span.get_width()) for span in spans] == [(2, 1)]
    assert "events lost" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert "events lost" not in [text.get_text() for text in draw(run).legends[0].get_texts()]


def test_a_close_up_shows_its_span_with_cycles_as_lines_on_every_pane(run, cache):
    window = Window(0, 1750 * MS)
    for name, ax in panes(draw(run, cache, window=window)).items():
        assert ax.get_xlim() == (0, 1.75), name
        assert rules(ax, dashed=False) == pytest.approx([0, 0.05, 0.1, 0.2, 1.7, 1.8]), name
    assert "copy l1" not in panes(draw(run, cache, window=window))


def test_a_close_up_of_many_cycles_has_no_lines_that_hide_the_panes(run, cache):
    w1 = run.load("w1")
    many = replace(w1, boundaries_ns=np.arange(MOST_GUIDES + 2, dtype=np.int64) * 25 * MS)
    figure = draw(replace(run, loads=(many,)), cache, window=Window(0, 1_700 * MS))
    assert all(rules(ax, dashed=False) == [] for ax in figure.axes)
    assert "cycles of an innocent load" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_pane_for_each_load_in_the_spec_s_order(run):
    assert list(panes(draw(run))) == ["clock c1", "editor w1", "mail mw1", "copy l1"]


def test_panes_share_the_time_axis(run):
    assert {ax.get_xlim() for ax in panes(draw(run)).values()} == {(0, 8)}


@pytest.mark.parametrize("shown_s", [(0, 8), (0.5, 3)])
def test_every_pane_has_the_lines_of_the_time_axis(run, shown_s):
    figure = draw(run)
    figure.axes[-1].set_xlim(*shown_s)
    figure.canvas.draw()
    ticks_s = figure.axes[-1].get_xticks()
    assert len(ticks_s) > 2
    for ax in figure.axes:
        (grid,) = (item for item in ax.collections if isinstance(item, LineCollection) and item.get_zorder() < 1)
        assert rules_at(grid) == pytest.approx(ticks_s)
        assert to_rgb(GRID) == pytest.approx(grid.get_color()[0][:3])


def test_control_pane_spans_its_idle_time(run):
    assert panes(draw(run))["clock c1"].get_ylim() == pytest.approx((0.95 * 50, 1.25 * 50))


def test_dashed_line_on_every_pane_where_the_offender_starts(run):
    for ax in panes(draw(run)).values():
        assert rules(ax, dashed=True) == pytest.approx([5])


def test_pauses_stand_out_and_the_longest_is_named(run):
    ax = panes(draw(run))["mail mw1"]
    normal, paused = ax.patches
    assert paused.get_facecolor() != normal.get_facecolor()
    assert [label.get_text() for label in ax.texts if label.get_color() == PAUSE] == ["1.40 s"]
    values, edges, _ = paused.get_data()
    assert max(values) == pytest.approx(0.4)  # the bound, and the intended sleep
    assert edges[int(np.argmax(values))] == pytest.approx(0.2)


def test_load_without_pauses_has_none_drawn(run):
    assert len(panes(draw(run))["editor w1"].patches) == 1


def test_a_load_has_its_own_colour_and_the_colours_are_explained(run):
    figure = draw(run)
    shown = [panes(figure)[name].patches[0].get_facecolor()[:3] for name in ("editor w1", "mail mw1", "copy l1")]
    assert shown == [to_rgb(colour) for colour in (*INNOCENT[:2], OFFENDERS[0])]
    explained = [patch.get_facecolor()[:3] for patch in figure.legends[0].findobj(Rectangle)]
    assert explained == [*shown, to_rgb(PAUSE)]


def test_control_stall_beyond_the_pane_is_named(run):
    c1 = run.load("c1")
    assert not plot_pane(control_pane(c1)).texts
    stalled = replace(c1, boundaries_ns=np.array([0, 50, 870]) * MS)
    assert [label.get_text() for label in plot_pane(control_pane(stalled)).texts] == ["stalled for 770 ms"]


def test_the_picture_of_a_failed_run_says_why(run):
    failed = replace(run, record=run.record | {"outcome": "failed", "reason": "disk full"})
    assert "disk full" in draw(failed).get_suptitle()
    assert "succeed" not in draw(run).get_suptitle()


def test_offenders_that_start_close_together_share_a_label():
    assert start_labels({"l1": 5, "l2": 43}, 80) == [(5, "l1 starts"), (43, "l2 starts")]
    assert start_labels({"l2": 43, "l1": 5}, 800) == [(43, "l1, l2 start")]
    assert start_labels({}, 80) == []


@pytest.mark.parametrize("suffix", FORMATS)
def test_saved_twice_it_is_the_same_file_and_names_the_run(run, tmp_path, suffix):
    first, second = (tmp_path / f"{number}{suffix}" for number in (1, 2))
    for path in (first, second):
        save(draw(run), run.name, path)
    content = first.read_bytes()
    assert content == second.read_bytes()
    assert run.path.name.encode() in content


def test_unknown_format(run, tmp_path):
    with pytest.raises(InputError, match=r"\.gif.*\.png"):
        save(draw(run), run.name, tmp_path / "a.gif")


def test_place_that_cannot_be_written(run, tmp_path):
    with pytest.raises(WblabError, match="cannot write"):
        save(draw(run), run.name, tmp_path / "nowhere" / "a.png")


def test_who_starts_at_the_end_is_named_before_it(run):
    late = replace(run.load("l1"), boundaries_ns=np.array([0, 8_000 * MS, 8_001 * MS]))
    late = replace(late, load=replace(late.load, wait=8000 * MS))
    for loads, side in ((run.loads, "left"), ((*run.loads[:3], late), "right")):
        figure = draw(replace(run, loads=loads))
        (words,) = (text for text in figure.axes[0].texts if text.get_text() == "copy l1 starts")
        assert words.get_ha() == side


def test_an_error_is_named_where_the_load_ended(run):
    w1, mw1 = run.load("w1"), run.load("mw1")
    loads = (replace(w1, error="No space left on device"), replace(mw1, boundaries_ns=mw1.boundaries_ns + 6000 * MS))
    shown = panes(draw(replace(run, loads=(*loads, run.load("l1")))))
    (words,) = (text for text in shown["editor w1"].texts if text.get_color() == PAUSE)
    assert (words.get_text(), words.get_ha()) == ("ended: No space left on device", "left")
    assert words.xy[0] == pytest.approx(0.05)
    assert not any("ended" in text.get_text() for text in shown["mail mw1"].texts)


def test_a_long_title_goes_on_in_another_line(run):
    short = draw(run)
    failed = replace(run, record=run.record | {"outcome": "failed", "reason": "why not " * 40})
    lines = draw(failed).get_suptitle().splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) < 160
    assert draw(failed).get_figheight() > short.get_figheight()


def test_the_title_says_how_fast_what_a_disk_is_made_of_is(run):
    spec = read_spec(SPECS.find("linear"))
    assert "line (no filesystem, linear, on a of 4 MiB/s and 50 us)" in title(replace(run, spec=spec))
