"""The status channel: the guest says where it is, one JSON object a line; the host never infers success."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from wblab.core.files import parse_json

Phase = Literal["mounts", "settings", "disk", "trace", "loads", "stop", "write", "power off", "failed"]

# In the order in which a guest goes through them, with the words that a person reads.
PHASES: dict[str, str] = {
    "mounts": "mounting the guest's filesystems",
    "settings": "setting sysctls",
    "disk": "setting up and mounting the disk",
    "trace": "starting the trace",
    "loads": "running the loads",
    "stop": "stopping the loads and the trace",
    "write": "writing results",
    "power off": "powering off",
}
FAILED = "failed"
# What a message may say besides: when the loads start, as CLOCK_MONOTONIC of the guest; why it failed.
_DETAILS = {"start_ns": int, "reason": str}


@dataclass(frozen=True)
class Message:
    """One line of the channel. `guest_ns`: CLOCK_MONOTONIC of the guest; `detail`: what the phase adds."""

    phase: Phase
    guest_ns: int
    detail: dict[str, Any] = field(default_factory=dict)

    def line(self) -> bytes:
        """Return the message as it goes over the channel."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> "Message":
        """Return the message in a line of a guest, which may say anything. Raises ValueError."""
        try:
            message = cls(**parse_json(line))
        except TypeError as error:
            raise ValueError(str(error)) from None
        if (type(message.phase), type(message.guest_ns), type(message.detail)) != (str, int, dict):
            raise ValueError(f"not a message: {line!r}")
        if message.phase not in (*PHASES, FAILED) or message.guest_ns < 0:
            raise ValueError(f"no phase or time of a guest: {line!r}")
        for key, value in message.detail.items():
            if _DETAILS.get(key) is not type(value):
                raise ValueError(f"no detail of a message: {key!r}")
        return message
