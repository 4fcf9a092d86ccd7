"""wblab recorder: print a script that records a stall on a machine where nothing can be installed."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Print a script of sh for a machine where nothing can be installed: it waits until a program stalls, and keeps "
        "what the kernel traced in the seconds around it in one file, for 'wblab why FILE'. It needs root, tracefs "
        "(Linux 4.4 or later) and what busybox has: no Python, no trace-cmd. 'sh recorder.sh --help' says how to call "
        "it."
    )
    about = "print a script that only collects what decides writeback there: limits, memory, disks, who sleeps where"
    parser.add_argument("--facts", action="store_true", help=about)
    parser.set_defaults(run=_recorder)


def _recorder(arguments: argparse.Namespace) -> None:
    from wblab.foreign.recorder import facts_script, recorder_script

    print(facts_script() if arguments.facts else recorder_script(), end="")
