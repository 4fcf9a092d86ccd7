"""Claims of other works, as checks that the lab runs (wblab study)."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
