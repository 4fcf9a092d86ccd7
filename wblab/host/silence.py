"""How long a guest has been silent while it could have spoken."""

import time
from collections.abc import Callable

_MOST = 5


class Silence:
    """Host time without a word from a guest, in s, but for the time in which no processor was free for it.

    limit_s: how long is too long. waited_s: returns for how long the guest has waited for a processor in all; it is
    asked from half of the limit on, as it costs a look at each of the guest's processes. A guest that waits for
    something else, or that runs in a circle, is not excused; nor is one for ever on a machine that is always busy: its
    silence lasts no longer than _MOST limits. now_s: the host's clock.
    """

    def __init__(
        self, limit_s: float, waited_s: Callable[[], float], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit_s = limit_s
        self._waited_s, self._now_s = waited_s, now_s
        self.broken()

    def broken(self) -> None:
        """Begin anew: the guest has spoken."""
        self._since_s = self._now_s()
        self._waited_before_s: float | None = None

    def is_over(self) -> bool:
        """Return whether it has lasted too long."""
        lasted_s = self._now_s() - self._since_s
        if lasted_s < self.limit_s / 2:
            return False
        if self._waited_before_s is None:
            self._waited_before_s = self._waited_s()
        if lasted_s < self.limit_s:
            return False
        waited_s = self._waited_s() - self._waited_before_s
        return lasted_s - waited_s >= self.limit_s or lasted_s >= _MOST * self.limit_s
