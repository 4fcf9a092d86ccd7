"""What interrupts a guest in virtual time comes from the guest, not from the host.

The kernel mixes the time of each interrupt into its random numbers. Linux 6.1 had one when the host had read the
guest's first message: in a third of its runs, random numbers were others.
"""

import re
from dataclasses import replace

from wblab.kernels import find_kernel
from wblab.lab.formats import CONSOLE

SHORT = ("load.l1.wait=1s", "load.l1.size=1MiB", "load.l2.wait=1s", "load.l2.size=1MiB")
SHOWN = (
    'trace.events=["irq:irq_handler_entry"]',
    *('kernel.parameters.trace_event="irq:irq_handler_entry"', "kernel.parameters.tp_printk=true"),
)
OWN = {"hr timer", "SIGCHLD"}  # the clock, and the end of one of the guest's processes, which the kernel waits for


def test_the_host_does_not_interrupt_the_guest(series, shared_lab):
    run = replace(shared_lab, kernel=find_kernel(series)).run("base", *SHORT, *SHOWN)
    names = re.findall(r"irq_handler_entry: irq=\d+ name=(.*)", (run.path / CONSOLE).read_text())
    assert len(names) > 100
    assert set(names) <= OWN
