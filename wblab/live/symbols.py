"""The names of this kernel's functions, with which the stacks in a trace are read (/proc/kallsyms)."""

from pathlib import Path

_KALLSYMS = Path("/proc/kallsyms")
_CODE = (" t ", " T ", " w ", " W ")  # nm(1)


def kernel_functions(path: Path = _KALLSYMS) -> str:
    """Return the functions of a kernel in the form of /proc/kallsyms; empty where it hides them (kptr_restrict).

    Data are left out, as no stack leads there: they are half of it. Raises OSError.
    """
    with path.open(errors="replace") as lines:
        found = [line for line in lines if any(kind in line[:20] for kind in _CODE)]
    return "" if all(line.startswith("0000000000000000 ") for line in found) else "".join(found)
