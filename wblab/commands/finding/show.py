"""wblab finding show."""

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wblab.commands.common import add_json, print_wrapped

if TYPE_CHECKING:
    from wblab.study.designs.finding.finding import Finding
    from wblab.study.designs.finding.judged import Judged
    from wblab.study.designs.witness.kept import Seen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Say what a finding is: the claim, the figures that show it, what was confirmed outside of User Mode Linux, "
        "who pays, since when, and what to do. The figures are those that come with the lab; wblab study makes "
        "them again."
    )
    parser.add_argument("name", metavar="NAME", help="a finding: see wblab finding list")
    add_json(parser)
    parser.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> None:
    from wblab.study.designs.finding import kept
    from wblab.study.designs.finding.finding import find, read
    from wblab.study.designs.finding.judged import judged

    directory = find(arguments.name)
    finding = read(directory)
    found = judged(finding, kept.read(directory))
    if arguments.json:
        print(json.dumps(_to_json(arguments.name, finding, found), indent=2))
        return
    print_wrapped([f"{finding.title}.", "", finding.claim, ""])
    print_wrapped([*_statements(finding, found), *_outside(arguments.name)])
    print_wrapped([f"Since when: {finding.since}", f"Who pays: {finding.pays}", f"What helps: {finding.helps}"])
    if finding.proposal:
        print_wrapped([f"Proposal: the variant {finding.proposal} of the lab's kernels."])
    print_wrapped(["", f"To repeat it: wblab study {arguments.name}"])


def _statements(finding: "Finding", found: "list[Judged]") -> Iterator[str]:
    from wblab.study.designs.finding.words import judged_words

    for one in found:
        yield f"- {one.statement.text}: {judged_words(one, finding)}"
    if found:
        yield ""


def _outside(name: str) -> Iterator[str]:
    """Yield what was confirmed outside of User Mode Linux: each statement once, with all substrates below it."""
    from wblab.report.quantities import spread
    from wblab.study.designs.witness.kept import of_page

    found: dict[str, dict[str, Seen]] = {}
    for statement, answers in of_page(f"{name}.md"):
        found.setdefault(statement.text, {}).update({one.substrate: one for one in answers})
    if not found:
        return
    yield (
        "Elsewhere (stock:7.2@4 is Debian's kernel in QEMU with four processors, 7.2+smp@4 the lab's by the host's "
        "clock):"
    )
    width = max(len(substrate) for each in found.values() for substrate in each)
    for text, by_substrate in found.items():
        yield f"- {text}:"
        for substrate, one in by_substrate.items():
            yield f"    {substrate.ljust(width)}  {one.holds.ljust(12)}  {spread(one.longest.values_s, 's')}"
    yield ""


def _to_json(name: str, finding: "Finding", found: "list[Judged]") -> dict[str, object]:
    from wblab.study.designs.finding.words import judged_json
    from wblab.study.designs.witness.kept import of_page

    outside = [
        {
            "statement": statement.text,
            "substrate": one.substrate,
            "release": one.release,
            "holds": one.holds,
            "longest_pause_s": list(one.longest.values_s),
        }
        for statement, answers in of_page(f"{name}.md")
        for one in answers
    ]
    head = {"name": name, "title": finding.title, "claim": finding.claim, "since": finding.since}
    ends = {"pays": finding.pays, "helps": finding.helps, "proposal": finding.proposal}
    return head | {"statements": judged_json(found, finding), "outside": outside} | ends
