"""What ends pauses of one cause: a setting that shortened such pauses in the lab, or the end of what holds them."""

from dataclasses import dataclass

from wblab.analysis.why.account import REQUEST, STOPPED
from wblab.analysis.why.charges import DEVICE, LIMIT, MAPPER, THROTTLE
from wblab.analysis.why.explain import Cause
from wblab.analysis.why.parties import JOURNAL, READ, is_of_load
from wblab.analysis.why.request import IoRequest
from wblab.core.drivers import SHORT_BYTES
from wblab.core.spec import Spec
from wblab.core.units import format_bytes
from wblab.lab.disks import loop_queue_settings, short_queue_settings
from wblab.report.dirtylimittext import lifted
from wblab.report.whybehind import THROTTLED, culprit
from wblab.report.whycause import Group, main_chain, throttled

_ASKED = "flusher"  # the kind of wait of a task that asked the flusher to write, as sync and syncfs do
# How a queue of 4 requests changed the longest pause, by the kind of wait that the disk's queue caused.
_MEASURED = {"journal writes block": "23.8 s became 0.65 s", "commit": "3.4 s became 0.49 s"}
# A short queue of the disk below changed nothing, as that above it is the long one: the matrices loop-device and crypt.
_BY_CRYPT = "8.3 s became 0.74 s"
_BY_LOOP = "11.0 s became 0.96 s"


@dataclass(frozen=True)
class MeasuredRemedy:
    """What may shorten such pauses. measured: its effect in the lab, empty if none.

    setting: KEY=VALUE; or queue: the name of the disk whose queue is to be short; besides: of the layers above it.
    """

    what: str
    measured: str
    setting: str = ""
    queue: str = ""
    besides: tuple[str, ...] = ()

    def settings(self, spec: Spec) -> list[str]:
        """Return what to set in a spec, each KEY=VALUE."""
        if self.setting:
            return [self.setting]
        return [*self.besides, *(short_queue_settings(spec, self.queue) if self.queue else ())]


_LOW_LIMIT = MeasuredRemedy(
    "a dirty limit of 4 MiB", "19.5 s became 3.6 s on Linux 6.1", "sysctl.vm.dirty_bytes=4194304"
)


def remedy(group: Group) -> MeasuredRemedy | None:
    """Return a setting that shortened such pauses in the lab, or may shorten them; None if the lab knows none.

    Figures: the matrices remedies, commit and two-disks, in docs/explanation/what-helps.md.
    """
    chain, request = main_chain(group.longest)
    if chain.end == REQUEST and request and request.name and group.party and not group.party.startswith(READ):
        measured = next((_MEASURED[did] for _, did in chain.links if did in _MEASURED), "")
        if any(did == _ASKED for _, did in chain.links):  # sync waits for all data, whatever the queue's length
            return None
        main = next(iter(culprit(group.longest)), None)
        if main and main.layer not in (DEVICE, THROTTLE):  # a short queue bounds no limit, and not the disk's cache
            return None
        own = any(is_of_load(each.load, group.party) for each in group.items)
        if request.is_limited or group.party.startswith(JOURNAL) or own:
            return None
        if request.in_throttle:  # its queue is not the disk's, and has no bound but the dirty limit
            return _LOW_LIMIT
        return _shorter(request, measured)
    cause = throttled(group.longest) if chain.links[-1][1] == THROTTLED else None
    return _against_throttling(cause) if cause else None


def _shorter(request: IoRequest, measured: str) -> MeasuredRemedy:
    """Return what makes the queue short that a request was in: that of a layer above the disk, or the disk's."""
    queue = f"a queue of {format_bytes(SHORT_BYTES)} for"
    if request.loop:
        besides = (f"disk.{request.loop}.direct_io=true", *loop_queue_settings(request.loop))
        return MeasuredRemedy(f"direct I/O and {queue} {request.disk}", _BY_LOOP, besides=besides)
    if request.is_by_crypt:
        what = f"no_write_workqueue for the disk *{request.asked}*, and {queue} {request.below}"
        besides = (f"disk.{request.asked}.workqueues=reads",)
        return MeasuredRemedy(what, _BY_CRYPT, queue=request.name, besides=besides)
    return MeasuredRemedy(f"{queue} {request.below}", measured, queue=request.name)


def _against_throttling(cause: Cause) -> MeasuredRemedy | None:
    if cause.limit.of != "machine":
        told, setting = lifted(cause.limit, next(iter(cause.places), cause.disk))
        return MeasuredRemedy(told, "", setting) if setting else None
    most = next(iter(cause.places), cause.disk)
    if most != cause.disk and most.startswith("the disk *"):
        name = most.removeprefix("the disk *").removesuffix("*")
        return MeasuredRemedy(f"a queue of {format_bytes(SHORT_BYTES)} for {most}", "8.2 s became 0.06 s", queue=name)
    return None


def by_itself(group: Group) -> str:
    """Return how to end pauses that a setting, a signal or a freeze caused; empty for other causes."""
    chain, _ = main_chain(group.longest)
    if chain.end == STOPPED:
        return "It continues when that is undone."
    main = next(iter(culprit(group.longest)), None)
    if chain.end == REQUEST and main and main.layer == MAPPER and main.party:
        return "It continues when that is undone."
    if chain.end == REQUEST and main and main.layer in (LIMIT, MAPPER):
        return f"To end it, change what delays the request: {main.words.removeprefix('by ')}."
    return ""
