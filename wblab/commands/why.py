"""wblab why: the cause of each pause of a run; or what a file of another machine says."""

import argparse

from wblab.commands.common import add_bound, add_exp, add_json, add_kernel, add_run, is_file_of_others, whole
from wblab.core.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Explain each pause of a run: what the load waited for, which task held it up, and which I/O was ahead in the "
        "queue, by who dirtied it. The evidence of a wait is two kernel stacks, of the sleeper and of the waker; "
        "where they disagree, the cause is unknown. "
        "A file is named for what it is, and its stacks, trace, state or log explained."
    )
    add_run(parser, about="a run: its directory, that one's name, latest; or a file, - for a pipe")
    add_exp(parser)
    parser.add_argument("--load", default="", metavar="LOAD", help="only pauses of this load")
    parser.add_argument("--task", action="append", default=[], metavar="NAME|PID", help="of a trace.dat; repeatable")
    parser.add_argument("--from", dest="begin", metavar="TIME", help="of a trace.dat: from then on")
    parser.add_argument("--to", dest="end", metavar="TIME", help="of a trace.dat: until then")
    parser.add_argument("--pause", type=whole(1), metavar="N", help="only pause number N, in the order of time")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="repeat the run without each suspect: how the longest pause changes, and when stopping the suspect still "
        "prevents it at the latest",
    )
    parser.add_argument(
        "--suspect", action="append", default=[], metavar="LOAD", help="with --prove: leave this load out; repeatable"
    )
    parser.add_argument(
        "--remedy",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="with --prove: repeat the run with this setting instead, such as load.l1.ioclass=idle; repeatable",
    )
    parser.add_argument(
        "--no-try",
        action="store_true",
        help="do not try on the run what the answer says",
    )
    parser.add_argument(
        "--try-for",
        default="10s",
        metavar="TIME",
        help="how long trials may take (default: 10s)",
    )
    add_kernel(parser, "the run's; for what is repeated")
    add_bound(parser)
    add_json(parser)
    parser.add_argument(
        "--evidence",
        action="store_true",
        help="print every pause with its kernel functions and events",
    )
    parser.add_argument(
        "--html",
        action="store_true",
        help="write why.html, and the timeline that it links to, into the run",
    )
    parser.set_defaults(run=_why)


def _why(arguments: argparse.Namespace) -> None:
    if is_file_of_others(arguments.run_name):
        from wblab.commands.fileanswer import explain

        explain(arguments)
        return
    for option, value in (("--task", arguments.task), ("--from", arguments.begin), ("--to", arguments.end)):
        if value:
            raise InputError(f"{option} is for a trace of another machine: for a run give --load or --pause")
    from wblab.commands.answer import why

    why(arguments)
