"""A machine where nothing can be installed: a stock kernel in QEMU with busybox alone, and a program that times itself.

Its clock is that of its instructions, so a busy host disturbs nothing.
"""

import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

from wblab.foreign.recorder import facts_script, recorder_script
from wblab.kernels.stock.modules import Modules
from wblab.lab.packages import tool_path
from wblab.substrates.qemu.command import EmulatedMachine, machine_arguments
from wblab.substrates.qemu.initramfs import ArchivedFile, archive, files_of, link, regular
from wblab.substrates.qemu.run import EMULATOR

NEEDED = ("busybox", "mkfs.ext4", "cc", EMULATOR)
_MODULES = ("virtio_pci", "virtio_blk", "configfs", "null_blk", "mq_deadline", "bfq", "crc32c_generic", "ext4")
_HERE = Path(__file__).parent / "stalling"
_KEPT_BYTES, _MEMORY_BYTES = 64 << 20, 600 << 20
_LIMIT_S = 1500  # of the host
# A disk of 4 MB/s: beyond its rate null_blk serves no request of more than a fiftieth of a second.
_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mkdir -p /dev/shm; mount -t tmpfs none /dev/shm; mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup && echo "+memory +io" > /sys/fs/cgroup/cgroup.subtree_control
for file in /modules/*.ko; do
    case $file in *-null_blk.ko) insmod "$file" nr_devices=0 ;; *) insmod "$file" ;; esac
done
[ -d /sys/kernel/config/nullb ] || mount -t configfs none /sys/kernel/config
disk=/sys/kernel/config/nullb/slow; mkdir $disk
for pair in memory_backed=1 size=700 mbps=4 submit_queues=1 max_sectors=160 power=1; do
    echo ${pair#*=} > $disk/${pair%=*}
done
name=slow; [ -b /dev/slow ] || name=nullb0
echo 80 > /sys/block/$name/queue/max_sectors_kb
echo mq-deadline > /sys/block/$name/queue/scheduler
echo 0 > /sys/block/$name/queue/wbt_lat_usec
mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1,nodiscard /dev/$name
mount -t ext4 -o noinit_itable /dev/$name /mnt
mkdir /tmp/kept
. /scenario.sh
ls -a /dev/shm > /tmp/kept/left.txt
tar -C /tmp/kept -cf - . | dd of=/dev/vda bs=64k
poweroff -f
"""


def missing() -> str:
    """Return which of the programs that it needs are not here."""
    return ", ".join(name for name in NEEDED if tool_path(name) is None)


def record(kernel: Path, modules: Path, scenario: str, to: Path) -> tuple[Path, str]:
    """Run a scenario with the recorder; return what that kept, and what the program says of its own stalls."""
    kept = machine(kernel, modules, (_HERE / f"{scenario}.sh").read_text(), to)
    (found,) = kept.glob("recorder-*.tar.gz")
    return found, (kept / "own.txt").read_text()


def machine(kernel: Path, modules: Path, scenario: str, to: Path, words: str = "cgroup_no_v1=all") -> Path:
    """Run a script of sh there; return the directory with what it put into /tmp/kept.

    words: of the kernel's command line. The script finds the disk's name in $name, mounted on /mnt.
    """
    busybox, maker = shutil.which("busybox"), tool_path("mkfs.ext4")
    assert busybox
    assert maker
    stalling = to / "stalling"
    subprocess.run(["cc", "-O2", "-static", "-o", stalling, _HERE / "stalling.c"], check=True)
    entries = [ArchivedFile(path, stat.S_IFDIR | 0o755) for path in ("/dev", "/mnt", "/proc", "/sys", "/tmp")]
    entries.append(ArchivedFile("/dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    for path in sorted(files_of([str(Path(busybox).resolve()), str(Path(maker).resolve())])):
        entries.append(regular(path, Path(path).read_bytes(), executable=True))
    for name, program in (("busybox", busybox), ("mkfs.ext4", maker)):
        place = str(Path(program).resolve())
        if place != f"/bin/{name}":
            entries.append(link(f"/bin/{name}", place))
    texts = {"/init": _INIT, "/recorder.sh": recorder_script(), "/scenario.sh": scenario, "/facts.sh": facts_script()}
    entries += [regular(path, text.encode(), executable=True) for path, text in texts.items()]
    entries.append(regular("/stalling", stalling.read_bytes(), executable=True))
    for number, (name, data) in enumerate(Modules(modules).ordered(_MODULES).items()):
        entries.append(regular(f"/modules/{number:02d}-{name}.ko", data))
    (to / "root").write_bytes(archive(entries))
    with (to / "disk").open("wb") as disk:
        disk.truncate(_KEPT_BYTES)
    command = [
        *("timeout", "-k", "5", str(_LIMIT_S), EMULATOR, *machine_arguments(EmulatedMachine(), _MEMORY_BYTES)),
        *("-serial", f"file:{to / 'console'}", "-drive", f"if=none,id=kept,file={to / 'disk'},format=raw,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=kept", "-kernel", str(kernel), "-initrd", str(to / "root")),
        *("-append", f"console=ttyS0 loglevel=4 panic=-1 mitigations=off no_timer_check {words}"),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stderr, (to / "console").read_text()[-2000:])
    with tarfile.open(to / "disk") as kept:
        kept.extractall(to / "kept", filter="data")
    return to / "kept"
