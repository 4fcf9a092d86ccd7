"""Live runs before and after a change of the machine, as one table."""

from dataclasses import replace

from support.originals import live_run

from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.report.pausetext import changed


def with_setting(run, limit, requests):
    spec = replace(run.spec, sysctl={"vm.dirty_bytes": limit})
    live = {"queues": {"sda": {"nr_requests": requests, "wbt_lat_usec": "2000"}}}
    return replace(run, spec=spec, record=run.record | {"live": live})


def test_settings_that_differ_are_named(tmp_path):
    live_run(tmp_path / "run")
    run = read_run(tmp_path / "run")
    one = with_setting(run, 0, "128")
    assert changed(one, with_setting(run, 4096, "4"))[1:] == [
        "    vm.dirty_bytes: 0 before, 4096 after",
        "    sda: nr_requests: 128 before, 4 after",
    ]
    assert changed(one, one) == ["No recorded setting differs."]
    assert changed(one, run) == ["No recorded setting differs."]  # it recorded none


def test_several_runs_before_give_median_and_range(tmp_path, capsys):
    for name in ("one", "other", "after"):
        live_run(tmp_path / name)
    earlier = ["--before", str(tmp_path / "one"), "--before", str(tmp_path / "other")]
    assert main(["why", "--pauses", str(tmp_path / "after"), *earlier]) == 0
    heads, *rows = capsys.readouterr().out.splitlines()
    assert heads.startswith("load  longest pause: before")
    (row,) = [row for row in rows if row.startswith("w1 ")]
    assert "1.95 s (1.95 s)" in row
    (apt,) = [row for row in rows if row.startswith("apt ")]
    assert "3 s (3 s)" in apt
    assert main(["why", "--pauses", str(tmp_path / "after"), *earlier, "--json"]) == 2
