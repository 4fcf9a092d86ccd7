"""A guest as a process of the host: booted confined, held to its limits, reaped, and what it left taken over."""
