"""wblab study --kernels: what differs between two kernels.

Builds both, runs the same specs with the same seeds on each until the differences are decided, and writes a page and a
text. Each kernel is a series, a tree, a tarball, a built linux, a build id, a commit, or a file or directory of patches
on the other one. The build of a tree, commit or patch runs its Makefiles and programs, and what its git configuration
names, as you.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_resume, add_settings, asked_of, show, whole
from wblab.core.errors import InputError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.study.designs.ab.make import KernelsRequest

_MOST = 34
_LEAST = 3  # seeds: fewer give no interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Compare two kernels: build both, run the same specs with the same seeds on each until the differences are "
        "decided, and write a page and a text. They say what differs in source, options and patches, which figures "
        "differ, with intervals, and why the pauses that changed were as long. A kernel is a series, a tree, a "
        "tarball, a built linux, a build id, a commit, or a file or directory of patches on the other one. The build "
        "of a tree, commit or patch runs its Makefiles and programs, and what its git configuration names, as you."
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="two kernels; or a range of commits: FROM..TO")
    parser.add_argument("--tree", type=Path, metavar="PATH", help="git repository of commits (default: this directory)")
    parser.add_argument("--base", metavar="KERNEL", help="what patches are applied to (default: the other)")
    parser.add_argument("--each", action="store_true", help="compare each patch or commit with the state before it")
    parser.add_argument(
        "--spec",
        action="append",
        default=[],
        metavar="SPEC",
        help="run this, as for wblab run; repeatable (default: base, base-device, base-ext2, two-disks, commit, stick)",
    )
    add_settings(parser)
    about = f"at most N seeds for each kernel and spec: 3, 5, 8, 13 … until they decide (default: {_MOST})"
    parser.add_argument("--seeds", type=whole(_LEAST), metavar="N", help=about)
    about = "with --resume: a kernel's path that it may run"
    parser.add_argument("--kernel", action="append", default=[], metavar="SERIES|PATH", help=about)
    about = "build the kernels, print where each is, and run nothing"
    parser.add_argument("--build-only", action="store_true", help=about)
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "the study's directory goes")
    add_json(parser, "print everything as JSON")
    parser.add_argument("--mail", action="store_true", help="print only the block for a mail, of at most 72 columns")
    parser.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> None:
    from wblab.report.text import mail
    from wblab.study.designs.ab.make import KernelsRequest, make

    if arguments.json and arguments.mail:
        raise InputError("--json and --mail print different things: give one of them")
    asked = asked_of(arguments, KernelsRequest)
    if arguments.build_only:
        _build_only(asked, as_json=arguments.json)
        return
    answer = make(asked)
    if arguments.mail and answer.report:
        print("\n".join(mail(answer.report)))
        answer = replace(answer, report=None, below=())
    show(answer, as_json=arguments.json)


def _build_only(asked: "KernelsRequest", *, as_json: bool) -> None:
    from wblab.study.designs.ab.make import built
    from wblab.study.designs.ab.sides import subject

    if asked.resume:
        raise InputError(
            "--build-only is for new kernels, and --resume keeps those of the first call: give one of them"
        )
    found = built(asked)
    if as_json:
        tables = [{"kernel": side.label, "subject": subject(side), "linux": str(kernel.path)} for side, kernel in found]
        print(json.dumps(tables, indent=2))
    else:
        print("\n".join(printable(f"{side.label}: {kernel.path}") for side, kernel in found))
