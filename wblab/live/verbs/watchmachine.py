"""wblab monitor, of this machine, and on what its samples are shown. Needs no package except for pages.

The process that shows the samples locks its memory, so it imports little: a disk that is busy must not stop it.
"""

import argparse
import os
import secrets
from collections.abc import Mapping

from wblab.commands.common import note
from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.live.monitor import PORT
from wblab.live.monitor.audience import Audience, pipe, piped, plain, printed, sampler
from wblab.live.monitor.disks import find_disk
from wblab.live.monitor.probe import probe_place
from wblab.live.monitor.proc import lock_all, reserve
from wblab.live.monitor.sampler import SamplerRequest

_END_LIMIT_S = 5.0
_HEAP_BYTES = 32 << 20


def watch_machine(arguments: argparse.Namespace) -> None:
    """Show this machine, and the disks and the directory that the arguments name, until Ctrl-C."""
    disks = tuple(find_disk(name) for name in arguments.disk)
    probe = str(probe_place(arguments.dir)) if arguments.dir is not None else ""
    request = SamplerRequest("this machine", probe=probe, disks=disks)
    audience = audience_of(arguments, {})
    reading, writing = pipe()
    reserve(_HEAP_BYTES)
    with audience.showing(piped(reading)):
        with sampler(request, writing):
            lock_all()  # the process that shows the samples must not wait for a disk either
            audience.wait()
        audience.await_end(_END_LIMIT_S)


def audience_of(arguments: argparse.Namespace, loads: Mapping[str, Load]) -> Audience:
    """Return the output sink: browser pages, whose address is printed, or stdout. `loads` are the loads on show."""
    if arguments.json or arguments.plain:
        return Audience(printed if arguments.json else plain)
    from wblab.live.monitor.server import address, listen, listen_by_default, serve, tunnel
    from wblab.plot.style import look

    try:
        listening = listen_by_default(PORT) if arguments.port is None else listen(arguments.port)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "there is no such port"
        raise InputError(
            f"--port: cannot listen on {arguments.port}: {reason}: leave --port out to use a free one"
        ) from None
    token = secrets.token_urlsafe(24)
    print(address(listening, token), flush=True)
    note(f"from another machine: {tunnel(listening)}, and the same address there")
    return Audience(lambda items: serve(items, listening, token, look(loads)))
