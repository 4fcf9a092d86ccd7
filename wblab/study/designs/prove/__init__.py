"""Proof by rerun: repeat a run without a suspect, or with a remedy, from some moment on."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
