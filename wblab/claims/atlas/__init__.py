"""Which claims hold on which kernel and which filesystem: verifications side by side."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
