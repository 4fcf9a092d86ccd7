"""Expected figures of a series: their intervals, the comparison, and the file, which may be a stranger's."""

import json

import pytest

from wblab.analysis.statistics.decision import Range
from wblab.core.errors import InputError
from wblab.kernels import catalog
from wblab.lab.formats import EXPECTED
from wblab.lab.results import SPECS
from wblab.study.designs.audit import golden
from wblab.study.designs.audit.expected import (
    FOLDER,
    SEEDS,
    STANDARD,
    Expected,
    compare,
    path_of,
    plan_of,
    read_expected,
    spans,
    write_expected,
)
from wblab.study.designs.audit.golden import Golden

DEFAULT = catalog.load().default

PROGRAM = "the guest's program"
INPUTS = {PROGRAM: "p", "the compiler": "gcc 12"}
GOLDEN = Golden("Debian 12, 7.2.11", "d1", INPUTS)
EXPECTS = Expected(GOLDEN, {"w1.longest_pause_s": Range(1.0, 2.0), "l1.throughput_bps": Range(1e6, 2e6)})
USUAL = {"w1.longest_pause_s": 1.5, "l1.throughput_bps": 1.5e6}
OTHER = INPUTS | {"the compiler": "gcc 14"}


def compared(digest, inputs, **changed):
    names = {"pause": "w1.longest_pause_s", "rate": "l1.throughput_bps"}
    figures = USUAL | {names[key]: value for key, value in changed.items()}
    return compare("base", EXPECTS, Golden("here", digest, inputs), figures)


def test_an_equal_digest_is_identical_whatever_the_inputs():
    for inputs in (INPUTS, OTHER):
        found = compared("d1", inputs)
        assert (found.fits, str(found)) == (True, "identical")


def test_other_inputs_are_compared_by_figures():
    found = compared("d2", OTHER)
    assert (found.fits, str(found)) == (True, "other inputs (the compiler): 2 figures within the intervals")
    found = compared("d2", OTHER, pause=19.5, rate=0.5e6)
    assert not found.fits
    assert str(found) == (
        "differs: w1.longest_pause_s is 19.5 s, expected 1 to 2 s; "
        "l1.throughput_bps is 488 KiB/s, expected 0.95 to 1.91 MiB/s"
    )


@pytest.mark.parametrize("changed", [{PROGRAM: "q"}, {PROGRAM: "q", "the compiler": "gcc 14"}])
def test_what_an_older_lab_recorded_is_stale_whatever_the_figures(changed):
    found = compared("d2", INPUTS | changed)
    assert not found.fits
    assert str(found) == (
        "stale: recorded with another version of the guest's program (make expected): 2 figures within the intervals"
    )
    assert compared("d1", INPUTS | changed).fits


def test_what_is_expected_of_the_default_series_was_recorded_with_this_lab():
    """It needs no kernel. The other series are compared where they are built, in tests/uml/test_kept.py."""
    expected = read_expected(DEFAULT, path_of(DEFAULT))
    for cell, seed in plan_of(DEFAULT, update=False).runs():
        recorded = expected[cell.name].golden.inputs
        here = golden.of_checkout(cell.with_seed(seed))
        stale = [name for name, value in here.items() if recorded[name] != value]
        assert not stale, (
            f"{cell.name}: {', '.join(stale)} changed since {path_of(DEFAULT)} was recorded: make expected"
        )


def test_the_same_inputs_must_give_the_same_bytes():
    found = compared("d2", INPUTS)
    assert not found.fits
    assert str(found) == "differs: other bytes from the same inputs, figures within the intervals"


def test_a_missing_or_new_figure_differs():
    found = compare("base", EXPECTS, Golden("here", "d2", OTHER), {"w1.longest_pause_s": 1.5, "w2.paused_s": 0.0})
    assert not found.fits
    assert str(found) == ("differs: l1.throughput_bps is missing, expected 0.95 to 1.91 MiB/s; w2.paused_s is new")


def test_an_interval_holds_all_seeds_and_a_little_more():
    runs = [{"w1.longest_pause_s": value} for value in (1.0, 1.2, 1.1, 1.3)]
    found = spans({"base": runs})["base"]["w1.longest_pause_s"]
    assert found.low < 0.9
    assert found.high > 1.5
    assert 19.0 not in found
    more = spans({"base": runs, **{f"other{number}": runs for number in range(20)}})["base"]["w1.longest_pause_s"]
    assert more.low < found.low < found.high < more.high  # more figures, each with more confidence


def test_equal_seeds_still_leave_room_for_what_nobody_notices():
    runs = [{"w1.longest_pause_s": 0.001, "w1.paused_s": 20.0, "l1.throughput_bps": 1e6}] * 8
    assert spans({"base": runs})["base"] == {
        "w1.longest_pause_s": Range(0.0, 0.011),
        "w1.paused_s": Range(19.8, 20.2),
        "l1.throughput_bps": Range(990_000.0, 1_010_000.0),
    }


def test_an_interval_holds_one_more_run_of_the_same_kind():
    import numpy as np

    random, missed = np.random.default_rng(1), 0
    for _ in range(500):
        values = np.exp(random.normal(1, 0.3, len(SEEDS) + 1)).tolist()
        found = spans({"base": [{"w1.paused_s": value} for value in values[:-1]]})["base"]["w1.paused_s"]
        missed += values[-1] not in found
    assert missed <= 15  # 1 % of 500, and three times that by chance


def test_the_standard_set_is_of_presets_and_has_one_run_each_unless_recorded():
    assert set(STANDARD) <= set(SPECS.names())
    plan = plan_of("6.1", update=False)
    assert [(cell.name, cell.spec.kernel.build, seed) for cell, seed in plan.runs()] == [
        (name, "6.1", 1) for name in STANDARD
    ]
    assert len(plan_of("6.1", update=True).runs()) == len(STANDARD) * len(SEEDS)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "7.2.json"
    write_expected("7.2", dict.fromkeys(STANDARD, EXPECTS), path)
    return path


def test_what_is_expected_survives_write_and_read(path):
    assert read_expected("7.2", path) == dict.fromkeys(STANDARD, EXPECTS)


def test_a_missing_or_unsuitable_file_names_the_command(path, tmp_path):
    with pytest.raises(InputError, match=r"no expected figures of 6\.1: .* wblab repeat golden --series 6\.1 --update"):
        read_expected("6.1", tmp_path / "6.1.json")
    with pytest.raises(InputError, match=r"another series or other presets: .* --series 6\.1 --update"):
        read_expected("6.1", path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("figures", {"w1.paused_s": [2.0, 1.0]}),
        ("figures", {"w1.paused_s": [1.0]}),
        ("figures", {"w1.paused_s": ["1", "2"]}),
        ("figures", {"w1.paused_s": [0, True]}),
        ("figures", {"w1.paused_s": [0, float("nan")]}),
        ("figures", {"w1.paused_s": [0, 10**400]}),
        ("figures", {f"w{number}.paused_s": [0, 1] for number in range(1001)}),
        ("figures", []),
        ("inputs", {"Python": 1}),
        ("inputs", None),
        ("digest", ["d"]),
        ("on", "x" * 501),
    ],
)
def test_a_damaged_file_is_refused(path, key, value):
    content = json.loads(path.read_text())
    content["presets"]["base"][key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="damaged"):
        read_expected("7.2", path)


def test_another_format_is_refused(path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": EXPECTED.version + 1}))
    with pytest.raises(InputError, match="format"):
        read_expected("7.2", path)


def test_expected_figures_of_the_lab_can_be_read():
    files = sorted(FOLDER.glob("*.json"))
    assert files
    for one in (one for path in files for one in read_expected(path.stem, path).values()):
        assert {*golden._OF_CHECKOUT, *golden._OF_MACHINE, "the processor"} == set(one.golden.inputs)
        assert one.figures
