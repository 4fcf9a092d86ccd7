"""The notebooks, executed from top to bottom on a run made for them."""

import nbformat
import pytest
from nbclient import NotebookClient

from wblab.core.specfile import ROOT
from wblab.plot.notebook import RUN_VARIABLE

FIGURES = {"timeline.ipynb": 2, "throttling.ipynb": 5}


@pytest.fixture(scope="module")
def base_run(shared_lab):
    return shared_lab.run("base")


@pytest.mark.parametrize("name", FIGURES)
def test_runs_and_shows_figures(base_run, monkeypatch, tmp_path, name):
    monkeypatch.setenv(RUN_VARIABLE, str(base_run.path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / name, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.data for output in outputs if output.output_type in ("execute_result", "display_data")]
    assert any(base_run.path.name in data.get("text/plain", "") for data in shown)
    assert sum("image/png" in data for data in shown) >= FIGURES[name]
    assert not [output for output in outputs if output.output_type == "error"]
