"""Loads started as a guest starts them."""

from wblab.core.spec import Spec
from wblab.guest.devices import guest_disks, places
from wblab.guest.loads import Running, start_loads


def start(spec: Spec, start_ns: int) -> list[Running]:
    """Start the loads of a spec, where its disks are."""
    return start_loads(spec, places(spec, guest_disks(spec)), start_ns)
