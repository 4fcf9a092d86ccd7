"""An invented machine to recommend remedies for: its twin's figures, its settings, and their files."""

from wblab.live.advise.machinesite import MachineSite
from wblab.live.advise.plan import Candidate
from wblab.live.advise.record import Advice
from wblab.live.advise.settings import WantedSetting
from wblab.live.disks.queue import MachineQueue
from wblab.live.runs.request import INNOCENT
from wblab.live.twin.described import Machine

GIB, MIB = 1 << 30, 1 << 20

MACHINE = Machine(
    memory_bytes=8 * GIB,
    background_bytes=800 * MIB,
    dirty_bytes=1600 * MIB,
    write_bps=100 * MIB,
    filesystem="ext4",
    scheduler="mq-deadline",
    offender_bytes=3 * 1600 * MIB,
    wait_ns=5 * 10**9,
    innocent=INNOCENT,
    timers={"vm.dirty_expire_centisecs": 3000, "vm.dirty_writeback_centisecs": 500},
    queue=MachineQueue(requests=256, request_bytes=1280 << 10, wbt_lat_usec=0),
    at_once=2,
)
SITE = MachineSite(
    directory="/srv",
    filesystem="ext4",
    device="sda",
    disks=("sda",),
    bdi="8:0",
    known_by={"sda": 'ENV{ID_SERIAL}=="WDC_1"'},
    schedulers=("bfq", "mq-deadline", "none"),
    controllers=("io", "memory"),
    abilities=("own limit", "wbt"),
)
FILES = {
    "block/sda/queue/scheduler": "none [mq-deadline] bfq",
    "block/sda/queue/nr_requests": "256",
    "block/sda/queue/max_sectors_kb": "1280",
    "block/sda/queue/wbt_lat_usec": "0",
    "class/bdi/8:0/max_ratio_fine": "1000000",
    "class/bdi/8:0/strict_limit": "0",
    "vm/dirty_bytes": "0",
    "vm/dirty_ratio": "20",
    "vm/dirty_background_bytes": "0",
    "vm/dirty_background_ratio": "10",
    "vm/dirty_expire_centisecs": "3000",
    "vm/dirty_writeback_centisecs": "500",
}


def advice_for(
    *wanted: WantedSetting, name: str = "it", before: dict[str, str] | None = None, **changes: object
) -> Advice:
    """Return an advice for the machine, in which one remedy was tried."""
    tried = Candidate(name=name, about="does it", cell="1-it", wanted=wanted)
    now = Candidate(name="now", about="the current settings", cell="0-now")
    given: dict[str, object] = {"made": "2026-11-23T00:00:00+0000", "site": SITE, "factor": 50, "about": ("a", "b")}
    given |= {"candidates": (now, tried), "left_out": {}, "before": before or {}}
    return Advice(**given | changes)  # type: ignore[arg-type]
