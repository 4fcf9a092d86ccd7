"""Watch a guest from the host: a sampler runs beside its loads."""

from dataclasses import replace

from wblab.core import layout
from wblab.core.errors import InputError
from wblab.core.spec import Agent, Spec
from wblab.core.stacks import images
from wblab.live.monitor.sampler import SamplerRequest
from wblab.live.monitor.streams import command


def watched(spec: Spec) -> Spec:
    """Return a spec with a sampler beside its loads that writes to the device read by the host.

    Its probe writes to the loads' disk if that has a filesystem, else to the first disk that has one. Raises
    InputError.
    """
    mount = layout.mount_point(_first_mounted(spec))
    name, device = f"guest of {spec.name}", str(layout.SAMPLES_DEVICE)
    request = SamplerRequest(name, device, str(mount), passing=True, called=_called(spec))
    return replace(spec, agent=spec.agent | {"sampler": Agent(argv=tuple(command(request, "python3")))})


def _called(spec: Spec) -> dict[str, str]:
    """Return the spec's disk names by the guest kernel's names for them.

    A single disk has none: there is no other to confuse it with.
    """
    alone = len(spec.disk) == 1
    return {layout.disk_device(place).name: "" if alone else name for place, name in enumerate(images(spec))}


def _first_mounted(spec: Spec) -> str:
    names = [name for name in (spec.first_disk, *spec.disk) if spec.disk[name].filesystem != "none"]
    if not names:
        raise InputError(
            f"no disk of {spec.name} has a filesystem, and the monitor times small writes to one: give it a disk with "
            "one, or draw its run with 'wblab timeline'"
        )
    return names[0]
