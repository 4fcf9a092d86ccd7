"""What the host and the guest's program agree on."""

from wblab.core import layout

QUEUES = "queues.json"  # among what a run left: the queues of its disks
# Where disks that are QEMU's devices are on the PCI bus, a slot each, and how many: the host has descriptors for these.
FIRST_SLOT, MOST_DISKS = 0x10, len(layout.DISK_FDS) - 2
