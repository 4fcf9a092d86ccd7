"""Names of this kernel's functions (/proc/kallsyms), to resolve the stacks in a trace."""

from pathlib import Path

_KALLSYMS = Path("/proc/kallsyms")
_CODE = (" t ", " T ", " w ", " W ")  # nm(1)


def kernel_functions(path: Path = _KALLSYMS) -> str:
    """Return a kernel's functions in the form of /proc/kallsyms; empty if it hides them (kptr_restrict).

    Data symbols are left out: no stack contains them, and they are half of the file. Raises OSError.
    """
    with path.open(errors="replace") as lines:
        found = [line for line in lines if any(kind in line[:20] for kind in _CODE)]
    return "" if all(line.startswith("0000000000000000 ") for line in found) else "".join(found)
