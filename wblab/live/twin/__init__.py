"""A machine's twin: a guest that is a scaled-down copy and should show the same pauses."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
