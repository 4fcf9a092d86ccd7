"""Find the commit that changed a metric: git bisect, with a kernel build and runs for each step."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
