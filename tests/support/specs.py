"""Small specs."""

SPEC = """
name = "small"
memory = "100MiB"
[disk]
size = "64MiB"
write_bps = "1MiB/s"
[trace]
events = ["writeback:*"]
[load.c1]
kind = "control"
idle = "50ms"
[load.w1]
kind = "write"
file = "w1"
idle = "50ms"
[load.mw1]
kind = "multiwrite"
file = "mw1"
idle = "100ms"
[load.l1]
kind = "load"
file = "l1"
wait = "5s"
size = "8MiB"
block = "1KiB"
"""

# Of a matrix or a bisection.
TWO_LOADS = """
memory = "100MiB"
[disk]
size = "64MiB"
write_bps = "1MiB/s"
[load.c1]
kind = "control"
idle = "50ms"
[load.l1]
kind = "load"
file = "l1"
wait = "1s"
size = "8MiB"
block = "1KiB"
"""
