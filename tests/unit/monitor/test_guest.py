"""A guest that is watched runs a sampler, and what it ran before."""

from wblab.core import layout
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.monitor.guest import watched


def test_a_sampler_runs_beside_all_else():
    spec = read_spec(PRESETS / "base.toml", ["agent.other.argv=['true']"])
    seen = watched(spec)
    assert set(seen.agent) == {"other", "sampler"}
    assert str(layout.SAMPLES_DEVICE) in seen.agent["sampler"].argv[-1]
    assert (seen.load, seen.disk, seen.agent["other"]) == (spec.load, spec.disk, spec.agent["other"])
