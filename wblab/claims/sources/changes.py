"""Changes of the kernel that changed the verdict on claims, each found by putting it in and taking it out."""

from collections.abc import Mapping
from dataclasses import dataclass

from wblab.analysis.statistics.decision import NOT_REPRODUCED, REPRODUCED, Outcome
from wblab.lab.kernelname import ordinal


@dataclass(frozen=True)
class KernelChange:
    """A commit. since: the first series that has it. finding: the page about it, below docs/."""

    since: str
    commit: str
    subject: str
    finding: str


@dataclass(frozen=True)
class Changed:
    """How the verdict on a claim changed. before: the outcome without the change; after: with it."""

    by: KernelChange
    before: Outcome
    after: Outcome

    def __str__(self) -> str:
        """Return one sentence."""
        return (
            f"{self.before.capitalize()} before Linux {self.by.since}, {self.after} since: "
            f'commit {self.by.commit}, "{self.by.subject}"'
        )


METADATA_FIRST = KernelChange(
    "6.12",
    "29390bb5661d",
    "blk-throttle: support prioritized processing of metadata",
    "findings/metadata-behind-a-limit.md",
)

# By claim, ten seeds each, with ext4's blocks of 1 KiB. On ext4 putting it into 6.1, and undoing it on 6.12 and 7.2,
# gives the other verdict. On ext2 only putting it in does: undone, the share of openat-ext2 is 49 % on 6.12 and 9 % on
# 7.2. So it is with the last three, of five seeds each: undone on 7.2, they are reproduced or not decided.
CHANGED: Mapping[str, Changed] = {
    **dict.fromkeys(
        ("openat-ext2", "openat-ext4", "pauses-l1-ext4", "pauses-mw1-ext4"),
        Changed(METADATA_FIRST, REPRODUCED, NOT_REPRODUCED),
    ),
    **dict.fromkeys(
        ("spared-w1-ext4", "pauses-stop-ext4", "l2-harmless-ext4", "flush-bound-ext4"),
        Changed(METADATA_FIRST, NOT_REPRODUCED, REPRODUCED),
    ),
    **dict.fromkeys(
        ("limit-falls-ext4", "rate-limiting-ext4", "L23-suspend"),
        Changed(METADATA_FIRST, NOT_REPRODUCED, REPRODUCED),
    ),
}


def changed_since(name: str, outcome: str, release: str) -> str:
    """Return by which change the verdict on a claim changed.

    It is empty if none is known, and where this verdict is not the one that the change makes on this kernel. What a
    variant of a kernel has is not known: 7.2.11+no-meta-priority.
    """
    changed = CHANGED.get(name)
    if changed is None:
        return ""
    series, _, variant = release.partition("+")
    other = changed.before if ordinal(series) >= ordinal(changed.by.since) else changed.after
    return "" if outcome == other and not variant else str(changed)
