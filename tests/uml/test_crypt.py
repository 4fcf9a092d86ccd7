"""An encrypted disk: its work queues are one more queue, and which of them must go for whom."""

import pytest
from support.guestlab import Lab

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.report.whyremedy import remedy

BOUND_NS = 300_000_000
READS, WRITES = ("disk.secret.workqueues=reads",), ("disk.secret.workqueues=writes",)
AES = "disk.secret.cipher=aes-xts-plain64"


@pytest.fixture(scope="module")
def known(storage_lab: Lab) -> Run:
    return storage_lab.run("crypt")


def longest_s(run: Run, load: str) -> float:
    return load_pauses(run.load(load), 0).longest_pause_s


def test_a_copy_stalls_commits_and_reads_only_with_the_work_queues(storage_lab: Lab, known: Run) -> None:
    linear = storage_lab.run("crypt", "disk.secret.model=linear")
    assert longest_s(known, "db") > 4 * longest_s(linear, "db")
    assert longest_s(known, "reader") > 1 > 3 * longest_s(linear, "reader")


def test_each_option_cures_what_goes_through_its_queue(storage_lab: Lab, known: Run) -> None:
    reads, writes = storage_lab.run("crypt", *READS), storage_lab.run("crypt", *WRITES)
    assert longest_s(reads, "db") < 1.5
    assert longest_s(reads, "reader") < 0.3  # as no write waits in the queue for a page, in which its data is decrypted
    assert longest_s(writes, "reader") < 0.3
    assert longest_s(writes, "db") > 0.7 * longest_s(known, "db")


def test_why_names_the_copy_the_queue_and_the_option(known: Run) -> None:
    first, *_ = groups(explain(known, read_recorded(known), "", BOUND_NS))
    assert first.party == "copy"
    assert "in the queues of dm-crypt and the disk *below*" in sentence(first)
    advised = remedy(first)
    assert advised
    assert advised.settings(known.spec)[0] == READS[0]


def test_the_work_queue_waits_for_dm_crypt_s_pages(known: Run) -> None:
    chains = [chain for item in explain(known, read_recorded(known), "", BOUND_NS) for chain in item.chains]
    assert "pool" in [did for chain in chains for name, did in chain.links[1:] if name.startswith("kworker/")]


def test_a_filesystem_is_copied_through_a_cipher(storage_lab: Lab) -> None:
    """What mkfs left as zeros is written too: encrypted, a disk that nobody wrote reads as noise."""
    for filesystem in ("ext4", "xfs"):
        size = f"disk.below.size={'130MiB' if filesystem == 'ext4' else '310MiB'}"
        run = storage_lab.run("crypt", AES, f"disk.secret.filesystem={filesystem}", size, "load.copy.size=1MiB")
        assert "error" not in (run.path / "console.log").read_text().lower()
        assert run.disks["secret"].written_ns
