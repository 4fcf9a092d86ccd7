"""Studies, comparisons and bundles, as programs and notebooks get them."""

from html import unescape

import pytest
from matplotlib.figure import Figure
from support.originals import guest_run, matrix
from support.runs import MS, write_run

import wblab
from wblab.cli import main


@pytest.fixture
def study(tmp_path):
    matrix(tmp_path / "2026-01-01_00-00-00_m")
    return wblab.read(tmp_path / "2026-01-01_00-00-00_m")


@pytest.fixture
def comparison(tmp_path):
    """Two rates with five seeds each: mw1 stalls for about 1 s with one and 0.5 s with the other."""
    paths = []
    for rate, pause_ms in (("1MiB/s", 1000), ("2MiB/s", 500)):
        for seed in range(1, 6):
            times = {"c1": [0, 50 * MS], "mw1": [0, 100 * MS, (200 + pause_ms + 10 * seed) * MS]}
            paths.append(write_run(tmp_path / f"{rate[0]}-{seed}", times, seed=seed))
            said = paths[-1] / "experiment.json"
            text = said.read_text().replace('"write_bps": 1048576', f'"write_bps": {int(rate[0]) << 20}')
            said.write_text(text.replace('"seed": 1', f'"seed": {seed}'))
    return wblab.compare(*map(wblab.read, paths))


def test_a_study_has_runs_cells_and_a_table(study):
    assert isinstance(study, wblab.Study)
    assert (study.name, study.design, len(study)) == ("m", "matrix", 3)
    assert list(study.cells) == ["none", "bfq"]
    assert [run.name for run in study] == [run.name for run in study.runs]
    assert set(study.table["metric"]) >= {"longest_pause_s", "throughput_bps"}
    assert "matrix, 3 runs" in study._repr_html_()


def test_a_study_is_found_by_its_name_and_compared(study):
    assert wblab.read("m", exp=study.path.parent).path == study.path
    assert study.compare().groups == ("none", "bfq")


def test_a_comparison_is_a_table_a_sentence_and_pictures(comparison):
    assert comparison.groups == ("1048576", "2097152")
    assert comparison.answer.startswith("mail mw1's longest pause is 500 ms less with disk.write_bps=2097152")
    assert comparison.table["verdict"].xs("longest pause", level="metric").tolist() == ["less: better"]
    assert comparison.medians.loc[("1048576", "mw1"), "longest_pause_s"] == pytest.approx(1.03)
    ax = Figure().add_subplot()
    assert comparison.plot("longest_pause_s", ax=ax) is ax
    assert isinstance(comparison.figure(), Figure)
    assert comparison.answer in unescape(comparison._repr_html_())
    assert str(comparison).startswith(comparison.answer)
    assert "disk.write_bps: 2097152 against 1048576, 5 runs each." in str(comparison)
    assert comparison.footnotes[-1] in str(comparison)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": ["disk.rate"]}, "no key 'disk.rate'"),
        ({"load": ["w9"]}, "no load 'w9'"),
        ({"causes": True}, "no run recorded the causes"),
    ],
    ids=["key", "load", "causes"],
)
def test_what_cannot_be_compared_is_said(study, options, said):
    with pytest.raises(wblab.InputError, match=said):
        study.compare(**options)


def test_a_bundle_is_opened_as_what_it_holds(tmp_path, monkeypatch):
    guest_run(tmp_path / "exp/2026-01-01_00-00-00_base")
    monkeypatch.chdir(tmp_path)
    assert main(["pack", "exp/2026-01-01_00-00-00_base"]) == 0
    run = wblab.open("2026-01-01_00-00-00_base.wblab", to=tmp_path / "kept")
    assert (run.path, run.pauses.empty) == (tmp_path / "kept", False)
    with pytest.raises(wblab.InputError, match="exists: give --to the name of a new directory"):
        wblab.open("2026-01-01_00-00-00_base.wblab", to=tmp_path / "kept")


def test_a_study_of_the_name_is_taken_and_else_made(study):
    place = study.path.parent
    assert wblab.run_study("m", exp=place, reuse=True).path == study.path
    with pytest.raises(wblab.InputError, match="nothing to study is called 'nothing'"):
        wblab.run_study("nothing", exp=place, reuse=True)
