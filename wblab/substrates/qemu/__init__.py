"""A stock kernel of a distribution in QEMU, with the lab's own program as its PID 1."""
