"""All works, with their claims in order."""

from collections.abc import Iterable, Sequence

from wblab.claims.sources.chadd.claims import chadd_claims
from wblab.claims.sources.chopper.claims import chopper_claims
from wblab.claims.sources.claim import Claim, Work, untested
from wblab.claims.sources.li.claims import li_claims
from wblab.claims.sources.stephens.claims import stephens_claims
from wblab.claims.sources.thesis.disks import (
    MITIGATION,
    daemon_claims,
    limit_claims,
    live_claims,
    mitigation_claims,
    sync_claims,
)
from wblab.claims.sources.thesis.lockup import base_claims, flush_claim
from wblab.core.errors import InputError, nearest


def _untestable(*names: str) -> list[Claim]:
    reasons = [
        (
            "sync-stalls",
            "mounted sync, the whole machine stalls often",
            "figure 10",
            "in virtual time the processor is never busy with other work; only a machine on a real clock could stall",
        ),
        (
            "live-figures",
            "on a real SSD of 70 MiB/s a system upgrade stalls w1 and mw1 for seconds, with dirty pages mostly below "
            "the background threshold and about 100 MB moved to writeback at once",
            "figures 11 to 13, on a live host",
            "needs a real host with that disk and a system upgrade; the mechanism is tested on the device disk",
        ),
        (
            "cpu-limit",
            "a limit on the offender's CPU has no effect",
            MITIGATION,
            "in virtual time the processor's work takes no time, so there is nothing to limit",
        ),
        (
            "daemon-cpu",
            "the daemon takes 7 % of a processor",
            "daemon",
            "in virtual time the processor's work takes no time; 'make bench' measures the CPU time of wblab's daemon",
        ),
    ]
    return [Claim(name, says, source, (), untested(why)) for name, says, source, why in reasons if name in names]


CLAIMS: tuple[Claim, ...] = (
    *base_claims("ext2", "ext2"),
    *base_claims("ext4", "ext4"),
    *sync_claims(),
    *_untestable("sync-stalls"),
    *live_claims(),
    *_untestable("live-figures"),
    *mitigation_claims(),
    *limit_claims(),
    *_untestable("cpu-limit"),
    flush_claim("ext2", "ext2"),
    flush_claim("ext4", "ext4"),
    flush_claim("device", "device"),
    *daemon_claims(),
    *_untestable("daemon-cpu"),
)


WORKS: dict[str, Work] = {
    "thesis": Work(
        "The thesis's claims",
        "A. Mendez, Analysis and mitigation of writeback cache lock-ups in Linux (UPC, 2020)",
        CLAIMS,
    ),
    "li": Work(
        "Coly Li's claims", "Coly Li's blog on the kernel (2009 to 2017), and what he reports there", li_claims()
    ),
    "chadd": Work("A. Chadd's claims", "A. Chadd, Writing Disk-IO efficient applications (slides)", chadd_claims()),
    "stephens": Work(
        "Stephens's claims",
        "B. Stephens, I/O Latency in the Linux Storage Stack (Florida State University, 2017)",
        stephens_claims(),
    ),
    "chopper": Work(
        "Chopper's claims",
        "J. He and others, Reducing File System Tail Latencies with Chopper (FAST 2015)",
        chopper_claims(),
    ),
}


def work_of(names: Sequence[str], default: str) -> str:
    """Return the work that has the claims of these names; without names the default. Raises InputError for several."""
    owners = {name: work for name in names for work, found in WORKS.items() if name in found.names}
    works = list(dict.fromkeys(owners.values()))
    if len(works) > 1:
        each = (f"wblab study {' '.join(name for name in names if owners.get(name) == work)}" for work in works)
        raise InputError(f"these are claims of {len(works)} works, and a study is about one: {'; '.join(each)}")
    return works[0] if works else default


def chosen(names: list[str], work: str = "thesis") -> list[Claim]:
    """Return the claims of these names, or all without names. Raises InputError for an unknown name."""
    claims = WORKS[work].claims
    known = [claim.name for claim in claims]
    for name in names:
        if name not in known:
            for found in WORKS.values():
                if name in found.names:
                    raise InputError(f"claim {name!r} belongs to another work: wblab study {name}")
            listing = f"wblab study {work} --list"
            raise InputError(f"no claim {name!r}{nearest(name, known)}: list them with '{listing}'")
    return [claim for claim in claims if not names or claim.name in names]


def claims_among(words: Iterable[str]) -> set[str]:
    """Return the words that name a claim."""
    return set(words) & {name for work in WORKS.values() for name in work.names}
