"""On how many processors a kernel of User Mode Linux can run: its configuration says so."""

from dataclasses import replace

from wblab.core.errors import InputError
from wblab.kernels.kernel import Kernel
from wblab.kernels.options import options_of


def on_processors(kernel: Kernel, processors: int, name: str) -> Kernel:
    """Return a kernel as it runs on a number of processors. name: as the user gave it. Raises InputError."""
    most = most_processors(kernel)
    if processors <= most:
        return replace(kernel, processors=processors)
    if most == 1:
        raise InputError(
            f"kernel {name}: it was built for one processor: take one with CONFIG_SMP, such as 7.2+smp@{processors} "
            "('wblab kernel build 7.2+smp' builds it)"
        )
    raise InputError(f"kernel {name}: it was built for at most {most} processors: give @{most} or fewer")


def most_processors(kernel: Kernel) -> int:
    """Return the most processors that a kernel was built for; 1 if its configuration is not known.

    It would take a larger number for this one without a word.
    """
    options = options_of(kernel) or {}
    return int(options["CONFIG_NR_CPUS"]) if options.get("CONFIG_SMP") == "y" else 1
