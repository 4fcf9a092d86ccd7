"""A twin's runs: the same spec with several seeds, on the kernel that the user names."""

from types import SimpleNamespace

from wblab.kernels import Kernel
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.twin import runs
from wblab.twin.scale import Twin

TWIN = Twin(read_spec(PRESETS / "base.toml", ["trace.events=[]"]), 2.0, ())


def test_runs_differ_in_their_seeds_alone_and_come_back_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    monkeypatch.setattr(runs, "run_experiment", lambda request, results: SimpleNamespace(directory=request))
    monkeypatch.setattr(runs, "read_run", lambda request: request.spec.seed)
    kernel = Kernel(tmp_path, None, "6.12", "6.12.1", "", ("a.patch",), "f00", "source", "gcc")
    requests = runs.runs_of(TWIN, "6.12", 3, {"6.12": kernel}.__getitem__)
    assert {(one.spec.kernel, one.kernel) for one in requests} == {("6.12", kernel)}
    assert runs.make(requests, tmp_path, "twin") == [1, 2, 3]
