"""wblab timeline."""

import argparse
from pathlib import Path

from wblab.data.verbs import add_run_argument, named_run


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verbs to the command."""
    timeline = verbs.add_parser("timeline", help="draw a run", description="Draw the timeline of a run.")
    add_run_argument(timeline)
    timeline.add_argument("-o", "--output", type=Path, metavar="FILE", help="PNG, SVG or PDF (default: in the run)")
    timeline.set_defaults(run=_timeline)


def _timeline(arguments: argparse.Namespace) -> None:
    from wblab.data.run import read_run
    from wblab.plot.timeline import save, timeline

    run = read_run(named_run(arguments))
    output = arguments.output or run.path / "timeline.png"
    save(timeline(run), run, output)
    print(output)
