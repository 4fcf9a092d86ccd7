"""The same spec on other substrates: does it stall there too?"""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
