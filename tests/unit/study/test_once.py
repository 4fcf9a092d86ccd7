"""A lesson's run is found again by what it was made of."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study import once


@pytest.fixture
def note(tmp_path):
    """Return a function that gives the note of a spec, on a kernel."""

    def of(spec, build="a" * 64):
        return once._note(
            SimpleNamespace(spec=spec, kernel=SimpleNamespace(describe=lambda: {"build_id": build})), tmp_path
        )

    return of


def test_the_order_of_loads_the_kernel_and_the_guest_s_program_count(note, monkeypatch):
    spec = read_spec(SPECS.find("base"))
    other = replace(spec, load=dict(reversed(spec.load.items())))
    assert other == spec  # but it is another run
    notes = {note(spec), note(other), note(spec, "b" * 64)}
    assert note(spec) in notes
    monkeypatch.setattr(once, "program_sha256", lambda _: "c" * 64)
    assert len(notes | {note(spec)}) == 4
