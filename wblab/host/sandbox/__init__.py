"""What a process of the host that reads a guest's or a stranger's input may still do: as little as it needs."""

from wblab.host.sandbox.landlock import landlock_version
from wblab.host.sandbox.sandbox import DISTRIBUTION, Sandbox

__all__ = ["DISTRIBUTION", "Sandbox", "landlock_version"]
