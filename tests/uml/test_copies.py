"""A guest that is copied while it runs: a copy is, to the byte, the run that was never copied."""

import hashlib
import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest
from support.lottery import some
from support.waiting import wait_until

from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError, WblabError
from wblab.host.copies import can_be_copied, copies
from wblab.host.process.usage import descendants
from wblab.host.recorded import RunFailedError
from wblab.host.request import ready
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.prove.trial import loads_start_ns

MS = 10**6
SHORT = ("load.l1.size=32MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=12s", "trace.lead=1s")
# By preset: settings, and moments in ms after the loads' start.
RUNS = {
    "base": (SHORT, (-1, 2000, 9000)),
    "base-device": (SHORT, (-1, 3000, 9000)),
    "two-disks": ((), (-1, 2000, 15000)),
    "laptop": ((), (-1, 3000)),
    "mirror": ((), (-1, 3000)),
    "layers": ((), (-1, 1000)),
    "commit": ((), (-1, 2000)),
    "neighbours": ((), (-1, 3000)),
    "stick": ((), (-1, 3000)),
    "loop": ((), (-1, 2000)),
    "xfs": (("disk.filesystem=xfs", "disk.size=320MiB", *SHORT), (-1, 3000)),
    "btrfs": (("disk.filesystem=btrfs", "disk.size=320MiB", *SHORT), (-1, 3000)),
}
CHANGES = {
    "stop": ("load.l1.until=4s",),
    "limits": ("phase.a.at=4s", "phase.a.sysctl.vm.dirty_bytes=262144", "phase.a.sysctl.vm.drop_caches=3"),
    "queue": ("phase.a.at=4s", "phase.a.disk.disk.queue={nr_requests=4, scheduler='bfq'}"),
    "mount": ("phase.a.at=4s", "phase.a.disk.disk.mount_options=['nobarrier', 'commit=1']"),
    "class": ("phase.a.at=4s", "phase.a.load.l1.ioclass=idle"),
    "two": ("phase.a.at=4s", "phase.a.load.l1.ioclass=idle", "phase.b.at=6s", "phase.b.sysctl.vm.drop_caches=3"),
    "end": ("load.l1.until=4s", "time_limit=6s"),
}


def request_of(lab, preset, *settings):
    return ready(
        read_spec(SPECS.find(preset if preset not in ("xfs", "btrfs") else "base"), settings), lambda _: lab.kernel
    )


def digests(run):
    names = [
        name for name in os.listdir(run) if name.endswith((".npy", ".dat")) or name in ("disks.json", "extents.json")
    ]
    return {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in names}


@pytest.fixture(scope="module")
def known(shared_lab):
    return shared_lab.once("base-device", *SHORT)


@pytest.fixture
def copied(lab, tmp_path):
    """Return a function that lets a run's guest stand still, so many ms after the loads' start."""
    assert can_be_copied(read_spec(SPECS.find("base")), lab.kernel)

    @contextmanager
    def stand(run, preset, settings, at_ms):
        place = tmp_path / f"at{at_ms}"
        place.mkdir()
        with copies(request_of(lab, preset, *settings), loads_start_ns(run) + at_ms * MS, place) as made:
            yield made

    return stand


@pytest.mark.parametrize("preset", some(RUNS, 2))
def test_a_copy_is_the_run_that_was_not_copied(lab, copied, preset):
    settings, moments = RUNS[preset]
    request = request_of(lab, preset, *settings)
    whole = lab.run("base" if preset in ("xfs", "btrfs") else preset, *settings)
    expected = digests(whole.path)
    for at_ms in moments:
        with copied(whole, preset, settings, at_ms) as made:
            for number in range(2):  # the second one of a guest that has been copied
                assert digests(made.run(request, lab.results).directory) == expected, (at_ms, number)
            brief = digests(made.run(request, lab.results, is_brief=True).directory)
            assert brief == {name: found for name, found in expected.items() if name.startswith("load.")}
    assert lab.left_behind() == []


@pytest.mark.parametrize("change", some(CHANGES, 2))
def test_a_change_in_a_copy_is_that_of_a_run_from_its_boot(lab, copied, known, change):
    changed = (*SHORT, *CHANGES[change])
    request = request_of(lab, "base-device", *changed)
    expected = digests(lab.run("base-device", *changed).path)
    with copied(known, "base-device", SHORT, 2900) as made:
        assert digests(made.run(request, lab.results).directory) == expected
    assert expected != digests(known.path)


def test_copies_beside_each_other_do_not_meet(lab, copied, known):
    request, expected, found = request_of(lab, "base-device", *SHORT), digests(known.path), []
    with copied(known, "base-device", SHORT, 2000) as one, copied(known, "base-device", SHORT, 6000) as other:
        at_once = [
            threading.Thread(target=lambda made=made: found.append(digests(made.run(request, lab.results).directory)))
            for made in (one, other)
        ]
        for thread in at_once:
            thread.start()
        for thread in at_once:
            thread.join()
    assert found == [expected, expected]


def test_a_run_that_differs_from_the_start_is_no_copy(lab, copied, known):
    with copied(known, "base-device", SHORT, -1) as made, pytest.raises(InputError, match="more than what comes later"):
        made.run(request_of(lab, "base-device", *SHORT, "memory=120MiB"), lab.results)
    assert lab.left_behind() == []


def test_a_copy_that_fails_is_kept_with_its_reason(lab, copied, known):
    odd = (*SHORT, "phase.a.at=4s", "phase.a.disk.disk.queue.no_such=1")
    with copied(known, "base-device", SHORT, 2000) as made:
        with pytest.raises(RunFailedError, match=r"cannot set phase\.a\.disk\.disk\.queue\.no_such") as error:
            made.run(request_of(lab, "base-device", *odd), lab.results)
        assert read_run(error.value.directory).failure
        request = request_of(lab, "base-device", *SHORT)
        assert digests(made.run(request, lab.results).directory) == digests(known.path)


def test_a_copy_that_is_killed_says_so_and_the_next_one_runs(lab, copied, known):
    request = request_of(lab, "base-device", *SHORT)
    with copied(known, "base-device", SHORT, 2000) as made:

        def kill():
            wait_until(lambda: len(kernels()) == 2)
            os.kill(max(kernels()), signal.SIGKILL)

        def kernels():
            linux = os.fsencode(lab.kernel.path)
            return [pid for pid in descendants(os.getpid()) if command(pid).startswith(linux)]

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(RunFailedError, match="the copy of a guest ended early"):
            made.run(request, lab.results)
        killer.join()
        assert digests(made.run(request, lab.results).directory) == digests(known.path)
    assert lab.left_behind() == []


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_a_moment_that_a_run_does_not_reach_is_said(lab, copied, known):
    ended = pytest.raises(WblabError, match="the guest ended before it was copied")
    with ended, copied(known, "base-device", SHORT, 10**6):
        raise AssertionError
    assert lab.left_behind() == []


def test_in_real_time_nothing_is_copied(lab):
    spec = read_spec(SPECS.find("base"), ["clock.mode=real"])
    assert not can_be_copied(spec, lab.kernel)
    assert not can_be_copied(read_spec(SPECS.find("base")), replace(lab.kernel, processors=2))
