"""Texts that show the state of a machine, as people paste them: made up machines of Linux 3.2 to 7.2, in many forms."""

from dataclasses import dataclass, field

MIB, GIB = 1 << 20, 1 << 30
KIB_OF_PAGE = 4


@dataclass(frozen=True)
class Machine:
    """A machine with the known answer.

    dirty, background: its limits in bytes, as its kernel has them; -1 if its texts cannot say. disks: name, scheduler,
    requests and largest request in KiB. busy: reports of iostat as (device, MiB/s written, ms a write, per cent busy).
    """

    linux: str
    memory: int
    free: int
    files: int
    anonymous: int = 0
    swap_free: int = 0
    settings: tuple[tuple[str, int], ...] = (("dirty_ratio", 20), ("dirty_background_ratio", 10))
    now: int = 0
    writeback: int = 0
    has_available: bool = True
    dirty: int = -1
    background: int = -1
    page_kib: int = KIB_OF_PAGE
    disks: tuple[tuple[str, str, int, int], ...] = (("sda", "mq-deadline", 64, 1280),)
    busy: tuple[tuple[str, float, float, float], ...] = field(default=())

    @property
    def sysctl(self):
        all_of = dict.fromkeys(("dirty_background_bytes", "dirty_background_ratio", "dirty_bytes", "dirty_ratio"), 0)
        return all_of | {"dirty_expire_centisecs": 3000, "dirty_writeback_centisecs": 500} | dict(self.settings)


def limits(settings, dirtyable):
    """The kernel's formula, for the test's own expectation."""
    given = dict(settings)
    dirty = given.get("dirty_bytes") or dirtyable * given.get("dirty_ratio", 0) // 100
    background = given.get("dirty_background_bytes") or dirtyable * given.get("dirty_background_ratio", 0) // 100
    return dirty, dirty // 2 if background >= dirty else background


def _machine(linux, memory, free, files, **more):
    settings = more.get("settings", (("dirty_ratio", 20), ("dirty_background_ratio", 10)))
    dirty, background = limits(settings, free + files)
    return Machine(linux, memory, free, files, dirty=dirty, background=background, **more)


MACHINES = (
    _machine("3.2.0-4-amd64", 4 * GIB, GIB, GIB, has_available=False, busy=(("sda", 42.0, 2300.0, 100.0),)),
    _machine("3.10.0-1160.el7.x86_64", 64 * GIB, 2 * GIB, 48 * GIB, now=9 * GIB, writeback=GIB // 2),
    _machine(
        "4.4.0-210-generic",
        8 * GIB,
        GIB,
        5 * GIB,
        settings=(("dirty_bytes", 256 * MIB), ("dirty_background_bytes", 64 * MIB)),
    ),
    _machine(
        "4.19.0-26-amd64",
        2 * GIB,
        300 * MIB,
        GIB,
        disks=(("mmcblk0", "mq-deadline", 128, 512),),
        busy=(("mmcblk0", 4.0, 9000.0, 100.0),),
    ),
    _machine("5.10.0-28-arm64", 16 * GIB, 4 * GIB, 8 * GIB, page_kib=64),
    _machine(
        "5.15.0-91-generic",
        128 * GIB,
        20 * GIB,
        90 * GIB,
        disks=(("nvme0n1", "none", 1023, 512), ("sdb", "bfq", 60, 1024)),
        busy=(("nvme0n1", 1.0, 0.4, 2.0), ("sdb", 90.0, 4100.0, 99.8)),
    ),
    _machine("6.1.0-18-amd64", 16 * GIB, 12 * GIB, 2 * GIB, now=3 * MIB, busy=(("sda", 2.0, 1.5, 4.0),)),
    _machine(
        "6.8.0-31-generic",
        32 * GIB,
        GIB,
        28 * GIB,
        settings=(("dirty_bytes", 16 * MIB), ("dirty_background_bytes", 16 * MIB)),
        disks=(("sda", "mq-deadline", 64, 4096), ("mmcblk0", "mq-deadline", 128, 512)),
    ),
    _machine(
        "6.12.9-gentoo", 8 * GIB, 3 * GIB, 3 * GIB, settings=(("dirty_ratio", 10), ("dirty_background_ratio", 50))
    ),
    _machine(
        "7.2.11", 4 * GIB, 2 * GIB, GIB, settings=(("dirty_ratio", 40), ("dirty_background_ratio", 1)), now=2 * GIB
    ),
)


def meminfo(machine):
    rows = {"MemTotal": machine.memory, "MemFree": machine.free}
    if machine.has_available:
        rows["MemAvailable"] = machine.free + machine.files
    rows |= {
        "Buffers": 20 * MIB,
        "Cached": machine.files,
        "SwapCached": 0,
        "Active(anon)": machine.anonymous,
        "Inactive(anon)": 0,
        "Active(file)": machine.files // 2,
        "Inactive(file)": machine.files - machine.files // 2,
        "SwapTotal": machine.swap_free,
        "SwapFree": machine.swap_free,
        "Dirty": machine.now - machine.writeback,
        "Writeback": machine.writeback,
        "Mapped": 200 * MIB,
    }
    return [f"{name + ':':<16}{size // 1024:>8} kB" for name, size in rows.items()] + ["HugePages_Total:       0"]


def vmstat(machine):
    pages = {
        "nr_free_pages": machine.free,
        "nr_inactive_file": machine.files - machine.files // 2,
        "nr_active_file": machine.files // 2,
        "nr_mapped": 200 * MIB,
        "nr_dirty": machine.now - machine.writeback,
        "nr_writeback": machine.writeback,
        "nr_dirty_threshold": machine.dirty,
        "nr_dirty_background_threshold": machine.background,
    }
    return [f"{name} {size // 1024 // machine.page_kib}" for name, size in pages.items()] + ["pgpgin 12345"]


def sysctl(machine):
    return [f"vm.{name} = {value}" for name, value in machine.sysctl.items()]


def queues(machine):
    found = []
    for name, scheduler, requests, size_kib in machine.disks:
        others = "none " if scheduler != "none" else ""
        chosen = f"{others}[{scheduler}]"
        attributes = {"nr_requests": requests, "max_sectors_kb": size_kib, "scheduler": chosen, "rotational": 1}
        found += [(f"/sys/block/{name}/queue/{key}", str(value)) for key, value in attributes.items()]
    return found


COLUMNS = {
    9: "rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await svctm %util",
    10: "rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util",
    11: "r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm %util",
    12: "r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz d/s dkB/s drqm/s %drqm "
    "d_await dareq-sz f/s f_await aqu-sz %util",
}


def iostat(machine, version=12, reports=2, comma=False):
    """Reports of iostat -x: the first is the mean since boot, in which nothing stands out."""
    heads = COLUMNS[version].split()
    found = [f"Linux {machine.linux} (far)  01/02/2026  _x86_64_  (4 CPU)", ""]
    for report in range(reports):
        found += ["avg-cpu:  %user   %nice %system %iowait  %steal   %idle", "           1.0 0.0 1.0 50.0 0.0 48.0", ""]
        found.append(f"{'Device' if version > 10 else 'Device:':<14}" + "".join(f"{head:>10}" for head in heads))
        for name, rate, took, busy in machine.busy:
            kib = rate * 1024 if report else 3.0
            figures = {
                "wkB/s": kib,
                "wsec/s": 2 * kib,
                "w/s": kib / 512,
                "%util": busy if report else 1.0,
                "await": took if report else 0.5,
                "w_await": took if report else 0.5,
                "aqu-sz": 60.0,
                "avgqu-sz": 60.0,
            }
            row = f"{name:<14}" + "".join(f"{figures.get(head, 0.0):>10.2f}" for head in heads)
            found.append(row.replace(".", ",") if comma else row)
        found.append("")
    return found


def pidstat(machine):
    return [
        f"Linux {machine.linux} (far)  01/02/2026  _x86_64_  (4 CPU)",
        "",
        "12:00:01 PM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command",
        "12:00:02 PM     0       812      0.00  51200.00      0.00       3  rsync",
        "12:00:02 PM   999       901     -1.00     -1.00     -1.00       0  mysqld",
        "Average:        0       812      0.00  99999.00      0.00       3  rsync",
    ]


def lsblk(machine):
    found = ["NAME        ALIGNMENT MIN-IO OPT-IO PHY-SEC LOG-SEC ROTA SCHED       RQ-SIZE   RA WSAME"]
    for name, scheduler, requests, _ in machine.disks:
        for shown in (name, f"└─{name}p1"):
            sizes = f"{0:>8} {512:>7} {0:>6} {512:>7} {512:>7} {1:>4}"
            found.append(f"{shown:<12}{sizes} {scheduler:<11} {requests:>7} {128:>4}    0B")
    return found


def lsblk_json(machine):
    rows = [
        f'{{"name":"{name}", "type":"disk", "rota":true, "sched":"{scheduler}", "rq-size":{requests}, '
        f'"children":[{{"name":"{name}1", "type":"part", "rota":true, "sched":"{scheduler}", "rq-size":{requests}}}]}}'
        for name, scheduler, requests, _ in machine.disks
    ]
    return ['{"blockdevices": [', ",\n".join(rows), "]}"]


PSI = [
    ("/proc/pressure/io", "some avg10=71.20 avg60=40.00 avg300=12.50 total=91234567"),
    ("/proc/pressure/io", "full avg10=65.10 avg60=38.00 avg300=11.00 total=81234567"),
    ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12"),
]


def _files(machine, vmstat_too=True):
    found = [("/proc/version", f"Linux version {machine.linux} (builder@far) #1 SMP")]
    found += [("/proc/meminfo", line) for line in meminfo(machine)]
    found += [("/proc/vmstat", line) for line in vmstat(machine)] if vmstat_too else []
    found += [(f"/proc/sys/vm/{name}", str(value)) for name, value in machine.sysctl.items()]
    return found + queues(machine) + PSI


def headed(machine):
    """As `head` and the lab's facts.sh print it."""
    found, last = [], ""
    for path, line in _files(machine):
        found += [f"==> {path} <=="] * (path != last) + [line]
        last = path
    return found


def grepped(machine):
    """As `grep . FILES` prints it."""
    return [f"{path}:{line}" for path, line in _files(machine)]


def asked(machine):
    """As a terminal shows it, with a prompt before each command; vmstat was not asked for."""
    found, last = [f"Linux far {machine.linux} #1 SMP x86_64 GNU/Linux"], ""
    for path, line in _files(machine, vmstat_too=False)[1:]:
        found += [f"root@far:~# cat {path}"] * (path != last) + [line]
        last = path
    return found


def quoted(machine):
    """As somebody answers in a mail."""
    return ["Jane wrote:", *(f"> > {line}" for line in plain(machine)), "", "What can I do?"]


def plain(machine):
    """Files and sysctl one below the other, with nothing that names them."""
    more = iostat(machine) if machine.busy else []
    return [*meminfo(machine), *sysctl(machine), *(f"{path}:{line}" for path, line in queues(machine)), *more]


def posted(machine):
    """As a post of a forum, with words between."""
    more = ["iostat -x 1:", "```", *iostat(machine), "```"] if machine.busy else []
    return [
        "My server freezes when I copy large files to it!!",
        *[
            "[code]",
            f"Linux far {machine.linux} x86_64",
            *meminfo(machine),
            *vmstat(machine),
            *sysctl(machine),
            "[/code]",
        ],
        *[
            "and the disk is",
            "```",
            *lsblk(machine),
            "```",
            *(f"{path}:{line}" for path, line in queues(machine)),
            *more,
        ],
        "Thanks for any help",
    ]


FORMS = {each.__name__: each for each in (headed, grepped, asked, quoted, plain, posted)}


def text(machine, form):
    return "\n".join(FORMS[form](machine)) + "\n"
