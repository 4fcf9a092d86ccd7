"""Where a run is made: in User Mode Linux, on a stock kernel in QEMU, or on this machine itself.

A kernel says which (`Kernel.place`), and all who check or make runs ask its place. A further place is a module with a
`PLACE`, and its line here. Two of these modules lie above this room: each is loaded when a run is made there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from wblab.core.spec import Spec
from wblab.host.recorded import Finished
from wblab.kernels import place_of_name
from wblab.kernels.kernel import Kernel

_MODULES = {"uml": "wblab.host.run", "qemu": "wblab.substrates.qemu.run", "machine": "wblab.live.runs.ofspec"}


@dataclass(frozen=True)
class Place:
    """A place where runs are made.

    words: what it is. check_spec: raises InputError for a spec that cannot run there on a kernel of a name, wherever
    that is made. check: raises InputError for a spec that a kernel cannot run on this host. run: makes the run of a
    request in a new directory of one of results, with `report` and the place's own options; it raises RunFailedError,
    InputError. boots: a guest is booted for each run; otherwise nothing of it is traced.
    """

    words: str
    check_spec: Callable[[Spec, str], None]
    check: Callable[[Spec, Kernel], None]
    run: Callable[..., Finished]
    boots: bool = True


def place_of(kernel: Kernel) -> Place:
    """Return the place where a kernel runs."""
    return _loaded(kernel.place)


def place_named(name: str) -> Place:
    """Return the place where a kernel of this name, as users write it, would run."""
    return _loaded(place_of_name(name))


def _loaded(place: str) -> Place:
    found = import_module(_MODULES[place]).PLACE
    assert isinstance(found, Place)
    return found
