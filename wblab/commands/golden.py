"""wblab golden: whether this machine sees what another saw, byte for byte."""

import argparse
from pathlib import Path

from wblab.core.errors import WblabError


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    golden = verbs.add_parser(
        "golden",
        help="does this machine see what others saw?",
        description="Run the base experiment, and say whether it gave what golden.json says that other machines saw, "
        "byte for byte, or which of the things that it depends on differ.",
    )
    golden.add_argument("--update", action="store_true", help="note what this machine sees")
    golden.add_argument("--exp", type=Path, metavar="DIR", help="where run directories go (default: exp/ of the lab)")
    golden.set_defaults(run=_golden)


def _golden(arguments: argparse.Namespace) -> None:
    from wblab.commands.run import run_shown
    from wblab.data.run import read_run
    from wblab.host.request import ready
    from wblab.kernels import built_kernels
    from wblab.lab.specfile import RESULTS, find_spec, read_spec
    from wblab.repeat.golden import SPEC, judge, noted, read_golden, seen, write_golden

    request = ready(read_spec(find_spec(SPEC)), built_kernels())
    run = read_run(run_shown(request, arguments.exp or RESULTS).directory)
    new = seen(run)
    print(run.path)
    print(new.digest)
    if arguments.update:
        write_golden(noted(read_golden(), new))
        return
    verdict = judge(read_golden(), new)
    print(verdict)
    if not verdict.same:
        raise WblabError("this machine sees something else")
