"""wblab advise with real guests, for an invented machine with a disk that is slow for its memory."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import MACHINE, SITE

from wblab.cli import main
from wblab.live.advise import begin, remedies
from wblab.report.page import fragment
from wblab.report.report import text_of
from wblab.study.store import Store
from wblab.study.subject import report_of

REMEDIES = """
["requests-4"]
about = "a short queue"
nr_requests = 4
["dirty-0.5s"]
about = "a low limit"
dirty = "500ms"
"""


@pytest.fixture
def advise(shared_lab, tmp_path, monkeypatch, capsys):
    (tmp_path / "remedies").mkdir()
    (tmp_path / "remedies/some.toml").write_text(REMEDIES)
    monkeypatch.setattr(remedies, "REMEDIES", tmp_path / "remedies")
    monkeypatch.setattr("wblab.live.advise.machinesite.find_site", lambda directory: SITE)
    monkeypatch.setattr(begin, "machine_here", lambda *given: replace(MACHINE, write_bps=50 << 20))
    monkeypatch.setattr("wblab.live.advise.record.paths", lambda *given: [])

    def call(*arguments):
        place = ("--exp", str(tmp_path / "exp"))
        code = main(["advise", *place, "--json", *arguments])
        output, errors = capsys.readouterr()
        assert code == 0, errors
        return json.loads(output)

    return call, str(shared_lab.kernel.path)


def test_a_short_queue_is_recommended_for_a_long_one(advise):
    call, kernel = advise
    found = call("--dir", "/srv", "--disk", "hdd", "--seeds", "3", "--kernel", kernel)
    rows = {row["name"]: row for row in found["remedies"]}
    assert rows.keys() == {"now", "requests-4", "dirty-0.5s", "requests-4+dirty-0.5s"}  # both help
    assert all(len(row["seeds"]) == 3 for row in rows.values())
    expected = {name: row["expected"]["longest_pause_s"] for name, row in rows.items()}
    assert expected["requests-4"] < expected["now"] / 2
    assert rows["dirty-0.5s"]["expected"]["offender_bps"] < rows["now"]["expected"]["offender_bps"]
    assert found["recommended"] != "now"
    again = call("--resume", found["directory"], "--kernel", kernel)
    assert again == found  # no run was repeated, and nothing is random
    shown = report_of(Store.open(Path(found["directory"])))  # as a site shows it: on any machine, without paths of this
    assert text_of(shown.headline) == found["headline"]
    assert str(Path(found["directory"]).parent) not in fragment(shown, 2)
