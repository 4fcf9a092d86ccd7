"""A guest that is watched from the host: a sampler runs beside its loads."""

from dataclasses import replace

from wblab.core import layout
from wblab.core.spec import Agent, Spec
from wblab.monitor.sampler import SamplerRequest
from wblab.monitor.streams import command


def watched(spec: Spec) -> Spec:
    """Return a spec with a sampler beside its loads, which writes to the device that the host reads."""
    mount = layout.mount_point(spec.first_disk)
    request = SamplerRequest(f"guest of {spec.name}", str(layout.SAMPLES_DEVICE), str(mount), passing=True)
    return replace(spec, agent=spec.agent | {"sampler": Agent(argv=tuple(command(request, "python3")))})
