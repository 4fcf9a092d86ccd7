"""A spec as TOML reads back as the same spec, whatever it holds."""

import tomllib
from dataclasses import replace

import pytest

from wblab.core.spec import Trace
from wblab.core.units import Nanoseconds
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec, spec_of, spec_toml


def again(spec):
    return spec_of(tomllib.loads(spec_toml(spec)), exact=False)


@pytest.mark.parametrize("name", SPECS.names())
def test_every_preset_reads_back(name):
    spec = read_spec(SPECS.find(name))
    assert again(spec) == spec


def test_units_are_as_somebody_writes_them():
    text = spec_toml(read_spec(SPECS.find("base-device")))
    assert 'write_bps = "1 MiB/s"' in text
    assert 'idle = "50 ms"' in text
    assert "syscall_cost" not in text  # a default


def test_what_is_odd_survives():
    spec = read_spec(SPECS.find("base"))
    odd = replace(spec.clock, syscall_cost=Nanoseconds(25_001))
    spec = replace(spec, clock=odd, seed=0, trace=Trace(triggers={'a"b': "c\n\x7f"}))
    assert again(spec) == spec
