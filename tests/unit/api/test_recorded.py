"""A run, its trace and the list of runs, as programs and notebooks get them."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from support.originals import guest_run

import wblab
from wblab.api.making import run
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec


@pytest.fixture
def found(tmp_path):
    guest_run(tmp_path / "2026-01-01_00-00-00_base")
    return wblab.read(tmp_path / "2026-01-01_00-00-00_base")


def test_its_tables_name_their_units(found):
    pauses = found.pauses.to_dict("records")
    assert [row for row in pauses if row["load"] == "mw1"] == [
        {"start_s": 0.2, "load": "mw1", "kind": "multiwrite", "duration_s": 1.4}
    ]
    assert set(found.pauses_over(2)["load"]) == {"l1", "l2"}
    assert found.pauses_over(9).columns.tolist() == found.pauses.columns.tolist()
    assert found.summary.loc["mw1", ["kind", "cycles", "longest_pause_s"]].tolist() == ["multiwrite", 4, 1.4]
    assert found.load("mw1").pauses_ns.max() == 1_400_000_000


def test_events_are_columns(found):
    decisions = found.trace["balance_dirty_pages"]
    assert len(decisions) == found.trace.counts["balance_dirty_pages"]
    assert decisions.columns[:2].tolist() == ["at_s", "task"]
    assert (decisions["limit"] * 4096).tolist() == found.trace.decisions["limit_bytes"].tolist()
    first, last = decisions["at_s"].iloc[[0, 9]]
    events = found.trace.between(first, last, most=4)
    assert (len(events), events.attrs["left_out"] > 0) == (4, True)
    assert events["at_s"].is_monotonic_increasing
    assert "limit=" in found.trace.between(first, first)["fields"].iloc[0]


def test_an_event_that_was_not_traced_is_named(found):
    with pytest.raises(wblab.InputError, match=r"has no event 'sched_switch': add it to trace.events"):
        found.trace["sched_switch"]


def test_the_timeline_has_lanes_and_other_runs_below(found):
    figure = found.timeline(beside={"as it is": found, "the same": found})
    assert [{"as it is", "the same"} & {text.get_text() for text in ax.texts} for ax in figure.axes] == [
        {"as it is"},
        {"the same"},
    ]
    assert len(found.timeline().axes) == 1
    with pytest.raises(wblab.InputError, match="only lanes have it"):
        found.timeline(panes="all", beside={"a": found})


def test_the_timeline_is_a_figure_with_an_axes_for_each_pane(found):
    figure = found.timeline(causes=False, panes="all")
    close_up = found.timeline("mw1", causes=False)
    assert isinstance(figure, Figure)
    assert close_up.axes[0].get_xlim() != figure.axes[0].get_xlim()
    assert found.timeline(start_s=1, end_s=2, causes=False).axes[0].get_xlim() == (1, 2)


def test_a_pane_is_drawn_into_axes_of_the_user_s(found):
    ax = Figure().add_subplot()
    assert found.plot("mw1", ax=ax) is ax
    assert ax.get_xlabel() == "time since the loads started (s)"
    with pytest.raises(wblab.InputError, match=r"no pane 'mw2' \(did you mean 'mw1'\?\): the run has "):
        found.plot("mw2")


def test_it_shows_itself(found):
    page = found._repr_html_()
    assert "Run 2026-01-01_00-00-00_base: base, seed 1" in page
    assert page.count("<tr>") == 1 + len(found.loads)
    assert repr(found).startswith("<Run 2026-01-01_00-00-00_base: base, seed 1")
    assert "balance_dirty_pages" in found.trace._repr_html_()


def test_runs_are_read_by_name_and_listed(found):
    place = found.path.parent
    assert wblab.read("base", exp=place).path == wblab.read(exp=place).path == found.path
    listed = wblab.runs(exp=place)
    assert listed.index.tolist() == [found.path.name]
    assert listed.loc[found.path.name, ["what", "state", "longest_pause_s"]].tolist() == ["run", "succeeded", 1.4]
    with pytest.raises(wblab.InputError, match="no run 'nothing'"):
        wblab.read("nothing", exp=place)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"set": {"load": {"l1": 1}}}, r"set\['load'\] is .*: give a text, a number, true or false, or a list"),
        ({"set": {"disk.nr_request": 4}}, "nr_request"),
        ({"spec": "bsae"}, r"no spec 'bsae' \(did you mean 'base'\?\)"),
        ({"spec": read_spec(SPECS.find("base")), "disk": "hdd"}, "a Spec is run as it is"),
    ],
    ids=["a table", "a key", "a name", "a spec"],
)
def test_what_cannot_be_run_is_said_before_anything_boots(arguments, said, tmp_path):
    with pytest.raises(wblab.InputError, match=said):
        run(**arguments, exp=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_spec_may_be_changed_in_python():
    spec = read_spec(SPECS.find("base"))
    assert isinstance(replace(spec, seed=3), wblab.Spec)


def test_without_its_trace_a_run_is_drawn_with_its_loads_and_says_so(found, capsys):
    (found.path / "trace.dat").unlink()
    assert found.timeline().axes
    assert capsys.readouterr().err == ""  # lanes need none
    assert found.timeline(panes="all").axes
    assert "the timeline shows only the loads: cannot read" in capsys.readouterr().err
    with pytest.raises(wblab.InputError, match="cannot read"):
        found.trace.counts  # noqa: B018
