"""A design's file: what is read from it, and its one-line errors."""

import pytest

from wblab.core.errors import InputError
from wblab.lab.results import DESIGNS
from wblab.study.designs.explore.design import design_of, read_design
from wblab.study.designs.explore.factors import FactorRange, Levels

LIMIT = {"key": "sysctl.vm.dirty_bytes", "low": "1MiB", "high": "32MiB", "scale": "log", "step": "4KiB"}


def design(**given):
    return design_of({"name": "d", "base": "base", "runs": 16, "factors": {"limit": LIMIT}} | given)


def test_factors_have_keys_units_and_steps():
    given = {
        "limit": LIMIT,
        "disk.latency": {"low": "20us", "high": "5ms"},
        "memory": {"key": "memory", "levels": ["100MiB", "150MiB"]},
        "disk.scheduler": {"levels": ["none", "bfq"]},
        "filesystem": {"levels": {"ext4": {}, "xfs": {"disk.filesystem": "xfs"}}},
    }
    found = {factor.name: factor for factor in design(factors=given).factors}
    limit, latency = found["limit"], found["disk.latency"]
    assert isinstance(limit, FactorRange)
    assert (limit.key, limit.low, limit.unit, limit.step) == ("sysctl.vm.dirty_bytes", 1 << 20, "bytes", 4096)
    assert isinstance(latency, FactorRange)
    assert (latency.key, latency.unit, latency.step) == ("disk.latency", "ns", 1)
    assert isinstance(found["memory"], Levels)
    assert [found[name].ordered for name in ("memory", "disk.scheduler", "filesystem")] == [True, False, False]
    assert found["memory"].level(0.9).settings == {"memory": "150MiB"}
    assert found["memory"].level(0.9).number == 150 << 20
    assert found["filesystem"].level(0.1).settings == {}


def test_the_default_responses_are_the_tails_of_innocent_loads():
    assert [response.name for response in design().responses] == ["longest_pause", "p999", "wait_time", "throughput"]


def test_responses_belong_to_a_role_or_to_loads():
    (found,) = design(responses={"reads": {"metric": "longest_pause_s", "of": ["r1", "r2"], "take": "mean"}}).responses
    assert (found.of, found.take) == ("r1, r2", "mean")


def test_a_limit_of_a_response_has_its_metric_s_unit():
    table = {"pause": {"metric": "longest_pause_s", "above": ["500ms", "2s"]}, "rate": {"metric": "throughput_bps"}}
    table["cycles"] = {"metric": "cycle_rate_hz", "above": ["0.5"]}
    pause, rate, cycles = design(responses=table).responses
    assert (pause.limits(), rate.limits(), cycles.limits()) == ({"500ms": 0.5, "2s": 2.0}, {}, {"0.5": 0.5})
    assert [response.unit for response in (pause, rate, cycles)] == ["s", "bytes/s", "1/s"]
    for metric, bound, said in (
        ("longest_pause_s", "five", "write for example"),
        ("cycle_rate_hz", "five", "write numbers"),
        ("cycle_rate_hz", "nan", "write numbers"),
    ):
        (wrong,) = design(responses={"x": {"metric": metric, "above": [bound]}}).responses
        with pytest.raises(InputError, match=f"responses.x.above: .*{said}"):
            wrong.limits()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"factors": {}}, "factors: none given"),
        ({"factors": []}, "factors must be a table"),
        ({"runs": 1}, "runs: 1 is not between 2 and 100000"),
        ({"runs": 60_000, "seeds": 2}, "runs: 60000 is not between 2 and 50000"),
        ({"strength": 3}, "strength: 3 is not 1 or 2"),
        ({"seed": -1}, "seed: -1 is negative"),
        ({"seeds": [1, 1]}, "seeds: give each once"),
        ({"sed": 1}, "unknown key 'sed'"),
        ({"factors": {"dummy": LIMIT}}, "factors.dummy: this name is reserved"),
        ({"factors": {"limit": LIMIT | {"lo": 1}}}, "unknown key 'factors.limit.lo'"),
        ({"factors": {"limit": {"low": 1}}}, "factors.limit.high is missing"),
        ({"factors": {"limit": LIMIT | {"high": "5s"}}}, "low, high and step must have the same unit"),
        ({"factors": {"limit": LIMIT | {"high": "1KiB"}}}, "no range from 1MiB to 1KiB"),
        ({"factors": {"limit": LIMIT | {"step": "1GiB"}}}, "in this step"),
        ({"factors": {"limit": LIMIT | {"scale": "loq"}}}, "'loq' is not one of linear, log"),
        ({"factors": {"limit": LIMIT | {"low": 0, "high": 5, "step": 1}}}, "0 has no logarithm"),
        ({"factors": {"limit": LIMIT | {"low": 0.5, "high": 5, "step": 0}}}, "keys of a spec are whole numbers"),
        ({"factors": {"limit": {"low": 1, "high": 5}}}, "factors.limit sets nothing: give it a key, or use it in"),
        ({"factors": {"limit": {"levels": [1]}}}, "factors.limit.levels: give between 2 and 1000, each once"),
        ({"factors": {"a.b": {"levels": [1, 1]}}}, "each once"),
        ({"factors": {"a": {"levels": {"x": 1, "y": {}}}}}, "factors.a.levels.x must be a table"),
        ({"factors": {"a": {"levels": {"x": {}, "y": {}}}}}, "factors.a sets nothing"),
        ({"factors": {"a": {"key": "b", "levels": {"x": {}, "y": {"c": 1}}}}}, "its named levels set their own keys"),
        ({"factors": {"a": {"levels": 5}}}, "must be a list of values or a table of named levels"),
        ({"factors": {"a.b": {"levels": [1, 2], "ordered": 1}}}, "factors.a.b.ordered must be true or false"),
        ({"factors": {"a": 5}}, "factors.a must be a table"),
        ({"derived": {"memory": "limt * 2"}}, "derived.memory: no factor 'limt'.*limit"),
        ({"derived": {"memory": 5}}, "derived.memory must be a text"),
        ({"derived": {"memory": "limit *"}}, "derived.memory: 'limit \\*' is not arithmetic"),
        ({"responses": 5}, "responses must be a table"),
        ({"responses": {"a": 5}}, "responses.a must be a table"),
        ({"responses": {"a": {}}}, "'responses.a.metric' is missing"),
        ({"responses": {"a": {"metric": "x", "take": "most"}}}, "'most' is not one of max, min, mean, sum"),
        ({"name": "../x"}, "name: '../x' is not a valid name"),
    ],
)
def test_invalid_designs_are_refused_with_the_reason(given, said):
    with pytest.raises(InputError, match=said):
        design(**given)


def test_the_lab_s_designs_are_valid():
    assert DESIGNS.names()
    for name in DESIGNS.names():
        read_design(DESIGNS.find(name))


def test_an_unknown_design_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no design 'writebck'.*writeback"):
        DESIGNS.find("writebck")
    (tmp_path / "bad.toml").write_text("runs = ")
    with pytest.raises(InputError, match="is not a TOML file"):
        read_design(tmp_path / "bad.toml")
