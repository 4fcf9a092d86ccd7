"""Sampled designs of experiments: a space of settings, a sample of it, and a run for each point of the sample."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
