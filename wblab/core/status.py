"""The status channel: the guest reports its phase, one JSON object per line. The host never infers success."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from wblab.core.files import parse_json

Phase = Literal["mounts", "settings", "disk", "trace", "loads", "stop", "write", "power off", "failed"]

# The phases of a guest, in order, with their descriptions for users.
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
# Optional details of a message: when the loads start (CLOCK_MONOTONIC of the guest), how much memory is kept
# from them and how much they have; why the guest failed.
_DETAILS = {"start_ns": int, "reserved_bytes": int, "available_bytes": int, "reason": str}


@dataclass(frozen=True)
class Message:
    """One line of the channel. guest_ns: CLOCK_MONOTONIC of the guest. detail: see _DETAILS."""

    phase: Phase
    guest_ns: int
    detail: dict[str, Any] = field(default_factory=dict)

    def line(self) -> bytes:
        """Return the message as a line of the channel."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> "Message":
        """Parse a line from an untrusted guest. Raises ValueError."""
        try:
            message = cls(**parse_json(line))
        except TypeError as error:
            raise ValueError(str(error)) from None
        if (type(message.phase), type(message.guest_ns), type(message.detail)) != (str, int, dict):
            raise ValueError(f"not a message: {line!r}")
        if message.phase not in (*PHASES, FAILED) or message.guest_ns < 0:
            raise ValueError(f"invalid phase or time: {line!r}")
        for key, value in message.detail.items():
            if _DETAILS.get(key) is not type(value):
                raise ValueError(f"invalid detail: {key!r}")
        return message
