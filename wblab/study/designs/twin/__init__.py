"""A machine's twin: a guest that is a scaled-down copy and should show the same pauses."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
HERE = "here:"  # what is given for this machine, in place of a live run
