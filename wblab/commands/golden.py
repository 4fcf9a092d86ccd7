"""wblab golden: check that this machine gets the same bytes as others."""

import argparse
import json
from dataclasses import asdict

from wblab.commands.common import add_exp, add_json, results
from wblab.core.errors import WblabError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Run the base experiment and compare its result, byte for byte, with those of other machines in golden.json. "
        "If it differs, list the inputs that differ."
    )
    parser.add_argument("--update", action="store_true", help="record this machine's result in golden.json")
    add_exp(parser, "run directories go")
    add_json(parser, "print the digest and the verdict as JSON")
    parser.set_defaults(run=_golden)


def _golden(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import read_run
    from wblab.commands.run import run_shown
    from wblab.host.request import ready
    from wblab.kernels import built_kernels
    from wblab.lab.named import SPECS
    from wblab.lab.places import check_checkout
    from wblab.lab.specfile import read_spec
    from wblab.study.designs.repeat.golden import FILE, SPEC, judge, noted, read_golden, seen, write_golden

    if arguments.update:
        check_checkout(FILE, "--update")
    request = ready(read_spec(SPECS.find(SPEC)), built_kernels())
    run = read_run(run_shown(request, results(arguments)).directory)
    new = seen(run)
    if not arguments.json:
        print(run.path)
        print(new.digest)
    if arguments.update:
        write_golden(noted(read_golden(), new))
        if arguments.json:
            print(json.dumps({"directory": str(run.path), "noted": asdict(new)}, indent=2))
        return
    verdict = judge(read_golden(), new)
    if arguments.json:
        about = {"directory": str(run.path), "digest": new.digest, "nearest": verdict.nearest.on}
        print(json.dumps(about | {"same": verdict.same, "differing": verdict.differing}, indent=2))
    else:
        print(verdict)
    if not verdict.same:
        raise WblabError("this machine's result differs")
