"""Notebooks executed from top to bottom, in a kernel of their own."""

import tempfile

from nbclient import NotebookClient
from traitlets.config import Config


def execute(notebook, cell_s=60, cwd=None):
    """Execute a notebook, and return its output. cell_s: the time limit of a cell. cwd: where it is.

    We speak with its kernel through files: a TCP port that was free may soon be taken. The files are in a directory of
    their own (with a short name, as sockets need), since a kernel that ends removes those of its name. Now and then
    pyzmq misses that a message has come (pyzmq issue 2173), and finds it when the timeout is over: so that is no longer
    than the slowest cell takes on a slow machine.
    """
    with tempfile.TemporaryDirectory() as place:
        files = Config({"KernelManager": {"transport": "ipc", "ip": f"{place}/kernel"}})
        resources = {"metadata": {"path": str(cwd)}} if cwd else {}
        NotebookClient(notebook, timeout=cell_s, kernel_name="python3", config=files, resources=resources).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    return [output.data for output in outputs if output.output_type in ("execute_result", "display_data")]
