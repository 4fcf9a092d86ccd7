"""Run a notebook to its first figure, as a Jupyter kernel does, and report the time."""

import json
import sys
import time

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Shell(InteractiveShell):
    """A shell without windows, as in a Jupyter kernel."""

    def enable_gui(self, gui: str | None = None) -> None:
        pass


def first_figure(path: str) -> dict[str, float]:
    """Run the cells up to the first that shows a figure, and return the cost. Raises what a cell raises."""
    shell = Shell.instance()
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    for source in cells:
        with capture_output() as shown:
            done = shell.run_cell(source)
            done.raise_error()
        # A figure is what a cell displays, or its value, which the shell then draws.
        if any("image/png" in output.data for output in shown.outputs) or hasattr(done.result, "savefig"):
            return {"wall_s": time.perf_counter() - start_s, "cpu_s": time.process_time() - start_cpu_s}
    raise ValueError(f"{path} shows no figure")


if __name__ == "__main__":
    print(json.dumps(first_figure(sys.argv[1])))
