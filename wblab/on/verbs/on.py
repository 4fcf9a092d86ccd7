"""wblab on: a program of one's own in a guest with a slow disk, as env(1) would run it."""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_settings, note, results, whole
from wblab.core.errors import InputError, WblabError
from wblab.core.units import Bytes, parse_bytes, parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.commands.parser import VerbParser
    from wblab.on.faults import Faults
    from wblab.on.told import Told
    from wblab.on.world import Wanted

_UNREAD = 141  # 128 + SIGPIPE, as shells report it


def add_arguments(parser: "VerbParser") -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Run a command on a slow disk: in a guest, with a copy of the current directory on that disk. What it prints, "
        "standard input and its exit code pass through as with env(1); 125 is the lab's own failure. TMPDIR is on that "
        "disk too, /tmp in memory. Time is virtual, so that the same command gives the same bytes."
    )
    about = "a kind of disk (hdd, ssd, nvme, usb-stick, sd-card, ram), a file of 'wblab disk measure', or a preset"
    parser.add_argument("disk", metavar="DISK", help=about)
    add = parser.add_argument
    add("--beside", default="", metavar="WHAT", help="what else writes: copy, or a preset's offenders")
    add("--size", default="512MiB", metavar="SIZE", help="of the disk (default: 512MiB)")
    add("--filesystem", default="ext4", metavar="NAME", help="of the disk (default: ext4)")
    add("--memory", default="512MiB", metavar="SIZE", help="of the guest (default: 512MiB)")
    add("--cpus", type=whole(1), default=1, help=argparse.SUPPRESS)  # to say 1 is all that can be done
    about = "virtual, or real: as a check, which does not repeat"
    add("--clock", choices=("virtual", "real"), default="virtual", metavar="MODE", help=about)
    add("--limit", metavar="TIME", help="fail with 124 if a write, fsync, ... takes longer")
    about = "run it that many times, with other seeds"
    add("--seeds", type=whole(1, 100), default=1, metavar="N", help=about)
    add("--seed", type=whole(0), default=0, metavar="N", help="of the disk, and of what writes beside (default: 0)")
    add("--junit", type=Path, metavar="FILE", help="write what came of it as JUnit's XML")
    _add_faults(parser)
    add("--dir", type=Path, default=Path(), metavar="DIR", help="what goes with it (default: the current directory)")
    add("--tracked", action="store_true", help="only the files that git tracks go with it")
    about = "bring this back into the directory; repeatable"
    add("--keep", action="append", default=[], metavar="PATH", help=about)
    about = "pass a variable on, or NAME=VALUE; repeatable"
    add("--env", action="append", default=[], metavar="NAME", help=about)
    about = "let it read this of the host too; repeatable"
    add("--allow-read", action="append", default=[], type=Path, metavar="PATH", help=about)
    add("--kernel", default="", metavar="SERIES|PATH", help="the guest's kernel (default: 7.2+programs)")
    add("--max-output", default="1GiB", metavar="SIZE", help="of the run's directory, with its trace (default: 1GiB)")
    add("--max-time", default="6h", metavar="TIME", help="host time after which it is killed (default: 6h)")
    add_settings(parser)
    add_exp(parser, "run directories go")
    add_json(parser, "print what came of it as JSON, on standard error")
    parser.behind = "command"
    parser.usage = "%(prog)s [options] DISK -- COMMAND [ARGUMENTS]"
    parser.set_defaults(run=_on)


def _add_faults(parser: "VerbParser") -> None:
    add = parser.add_argument
    add("--crash-at", metavar="TIME|end", help="lose power at this time, or at the command's end")
    add("--crash-after", metavar="N", help="lose power after N writes of the disk, or 10..400/10")
    add("--then", default="", metavar="COMMAND", help="run this then; its input is what was printed")
    add("--stall-at", metavar="TIME:TIME", help="the disk stands still: when, for how long")
    add("--torn", action="store_true", help="a loss of power may leave parts of 4 KiB")
    add("--error-at", default="", metavar="[read:]N", help="the disk's Nth write, or read, fails (EIO)")
    add("--full-at", metavar="SIZE", help="leave so much room on the disk (ENOSPC)")


def _on(arguments: argparse.Namespace) -> None:
    from wblab.on.heard import UnreadError
    from wblab.on.order import OURS

    _open_all()
    try:
        code = _ran(arguments)
    except InputError:
        raise
    except UnreadError:
        code = _UNREAD
    except WblabError as error:
        note(str(error))
        code = OURS
    raise SystemExit(code)


def _open_all() -> None:
    """Open what is closed of standard input, output and error: what is opened next would take its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _ran(arguments: argparse.Namespace) -> int:
    """Run the command once or several times. Return the exit code."""
    from dataclasses import replace

    from wblab.on.handed import standard_input
    from wblab.on.junit import Case, case_of, check_junit, write_junit

    limit_ns = parse_time(arguments.limit) if arguments.limit else None
    stdin, wanted = standard_input(note), _wanted(arguments)
    rounds = [(faults, wanted.seed + number) for faults in _faults(arguments) for number in range(arguments.seeds)]
    cases: list[Case] = []
    if arguments.junit:
        check_junit(arguments.junit)
    ended: list[tuple[str, Told]] = []
    try:
        for faults, seed in rounds:
            which = f"after {faults.crash_after} writes, seed {seed}" if faults.crash_after else f"seed {seed}"
            try:
                told = _once(arguments, replace(wanted, seed=seed, unmounts=faults.crashes), faults, stdin, limit_ns)
            except WblabError as error:
                cases.append(Case(which, kind="error", words=str(error)))
                raise
            cases.append(case_of(told, which))
            ended.append((which, told))
            if len(rounds) > 1 and not arguments.json:
                note(f"{which}: exit code {told.code}")
            if told.ran.signals:
                break
    finally:
        if arguments.junit and cases:
            write_junit(arguments.junit, arguments.disk, arguments.command, cases)
    return _all_told(ended, quiet=arguments.json)


def _all_told(ended: "Sequence[tuple[str, Told]]", *, quiet: bool) -> int:
    """Say how several runs ended, by their names, and in what they differ. Return the first code that is not 0."""
    from wblab.on.told import compared

    others = [told for _, told in ended if told.code]
    if len(ended) > 1 and not quiet:
        for line in compared(ended):
            note(line)
        first = f", the first in {others[0].directory}" if others else ""
        note(f"exit code 0 in {len(ended) - len(others)} of {len(ended)} runs, another in {len(others)}{first}")
    return others[0].code if others else 0


def _faults(arguments: argparse.Namespace) -> "list[Faults]":
    """Return what happens to the disk, for each run. Raises InputError."""
    from wblab.on.faults import Faults, crash_points, crash_time, failing, stall

    if arguments.crash_at and arguments.crash_after:
        raise InputError("--crash-at and --crash-after: power is lost once, give one of them")
    if arguments.then and not (arguments.crash_at or arguments.crash_after):
        raise InputError("--then runs after a loss of power: add --crash-at or --crash-after")
    if arguments.torn and not (arguments.crash_at or arguments.crash_after):
        raise InputError("--torn is about a loss of power: add --crash-at or --crash-after")
    if arguments.torn and arguments.seeds == 1 and not arguments.seed:
        raise InputError(
            "--torn: with seed 0 nothing is left of what no flush confirmed, so nothing is torn: add --seed 1"
        )
    stall_at_ns, stall_ns = stall(arguments.stall_at) if arguments.stall_at else (-1, 0)
    error_at, read_error_at = failing(arguments.error_at) if arguments.error_at else (0, 0)
    return [
        Faults(
            crash_at_ns=crash_time(arguments.crash_at) if arguments.crash_at else -1,
            crash_after=point,
            stall_at_ns=stall_at_ns,
            stall_ns=stall_ns,
            error_at=error_at,
            read_error_at=read_error_at,
            torn=arguments.torn,
            free_bytes=parse_bytes(arguments.full_at) if arguments.full_at else -1,
            then=arguments.then,
        )
        for point in (crash_points(arguments.crash_after) if arguments.crash_after else [0])
    ]


def _wanted(arguments: argparse.Namespace) -> "Wanted":
    from wblab.on.world import Wanted

    if arguments.cpus != 1:
        raise InputError(
            f"--cpus {arguments.cpus}: a guest whose runs repeat has one processor: leave it out, or give 1"
        )
    return Wanted(
        disk=arguments.disk,
        size=Bytes(parse_bytes(arguments.size)),
        filesystem=arguments.filesystem,
        memory=Bytes(parse_bytes(arguments.memory)),
        beside=arguments.beside,
        settings=tuple(arguments.settings),
        seed=arguments.seed,
        kernel=arguments.kernel or _kernel(),
        is_real=arguments.clock == "real",
    )


def _kernel() -> str:
    """Return the kernel for programs, or the default one, and say what that lacks, where it is not built."""
    from wblab.kernels import find_kernel
    from wblab.on.world import KERNEL

    if find_kernel(KERNEL):
        return KERNEL
    lacks = "no network, no System V IPC, and a program that waits without a system call never ends"
    note(f"on the default kernel: {lacks}: 'wblab kernel build {KERNEL}' has them")
    return ""


def _once(
    arguments: argparse.Namespace, wanted: "Wanted", faults: "Faults", stdin: bytes | None, limit_ns: int | None
) -> "Told":
    """Run the command, and say on standard error what came of it."""
    from wblab.on.asked import Asked, prepared
    from wblab.on.made import bring_back, run_program
    from wblab.on.told import told_of

    asked = Asked(
        argv=_command(arguments),
        directory=arguments.dir,
        tracked=arguments.tracked,
        keep=arguments.keep,
        variables=arguments.env,
        allow_read=arguments.allow_read,
        longest=parse_time(arguments.max_time),
        most=Bytes(parse_bytes(arguments.max_output)),
        results=results(arguments),
    )
    ran = run_program(prepared(asked, wanted, faults), stdin)
    brought = bring_back(ran.finished.directory, arguments.dir.resolve()) if arguments.keep else []
    told = told_of(ran, limit_ns, brought)
    if arguments.json:
        print(json.dumps(told.table(), indent=2), file=sys.stderr)
    else:
        for line in told.lines():
            note(line)
    return told


def _command(arguments: argparse.Namespace) -> tuple[str, ...]:
    argv = tuple(arguments.command)
    if not argv:
        example = f"wblab on {shlex.quote(arguments.disk)} -- pytest"
        raise InputError(f"write the command behind --, as in '{example}'")
    return argv
