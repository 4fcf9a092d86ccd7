"""The standard set of presets gives what is expected, on a series of the day."""

import json

import pytest
from support.lottery import KEPT, on_its_day, some

from wblab.cli import main
from wblab.kernels import catalog
from wblab.study.designs.audit.expected import STANDARD, path_of

pytestmark = on_its_day("expected", KEPT)


@pytest.mark.parametrize("series", some([entry.name for entry in catalog.load().series], 1), indirect=True)
def test_a_series_gives_the_expected_figures(series, tmp_path, capsys):
    if not path_of(series).exists():
        pytest.skip(f"no expected figures of {series} are recorded")
    code = main(["repeat", "golden", "--series", series, "--exp", str(tmp_path), "--json"])
    printed = capsys.readouterr()
    assert code == 0, f"{printed.out}{printed.err}: if that was meant, 'make expected'"
    (found,) = json.loads(printed.out)["series"].values()
    assert [one["preset"] for one in found] == list(STANDARD)
    assert all(one["fits"] for one in found)
