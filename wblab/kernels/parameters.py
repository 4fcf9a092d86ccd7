"""Parameters of kernels, told by names in their executables."""

import mmap
import re
from functools import cache

from wblab.kernels.kernel import Kernel


@cache
def may_take(kernel: Kernel, parameter: str) -> bool:
    """Return whether a kernel may have a parameter: its executable holds the name as a whole text, also before `=`.

    Names of parameters are such texts (module_param, __setup and their like), and the kernel takes '-' for '_' in them.
    Others may be too: what is no parameter is then for the kernel to say. It says nothing of names with a dot.
    """
    name = re.sub(rb"[-_]", rb"[-_]", re.escape(parameter.encode()).replace(rb"\-", b"-"))
    with kernel.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        return re.search(rb"(?<![\w.-])" + name + rb"=?\0", image) is not None
