"""Programs that boot one real kernel with different rates of the disk: building kernels takes minutes."""

from pathlib import Path

SLOW, FAST = "262144", "1048576"  # bytes per second

# Changes of base-device that shorten it, and let the rate decide how long a write waits.
SHORT = (
    "disk.driver=ubd",  # a script has no parameters for another driver's queue
    "load.l1.size=4MiB",
    "load.l1.wait=500ms",
    "load.l2.size=4096",
    "load.l2.wait=1s",
    "sysctl={'vm.dirty_bytes' = 1048576, 'vm.dirty_background_bytes' = 524288}",
)

_SCRIPT = """\
#!/bin/sh
# {comment}
for word do
    shift
    case $word in ubd.bytes_per_second=*) word=ubd.bytes_per_second={rate} ;; esac
    set -- "$@" "$word"
done
exec {linux} "$@"
"""


def make_kernel(path: Path, linux: Path, rate: str, comment: str = "") -> Path:
    """Write an executable that boots `linux` with the disk's rate `rate`, whatever the spec says."""
    path.write_text(_SCRIPT.format(linux=linux, rate=rate, comment=comment))
    path.chmod(0o755)
    return path
