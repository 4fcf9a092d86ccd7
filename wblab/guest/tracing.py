"""Start trace-cmd in the guest, check that it records, and stop it."""

import re
import signal
import subprocess
import time
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.rundir import TRACE_LOG
from wblab.core.spec import Trace
from wblab.guest.mounts import TRACEFS
from wblab.guest.settings import put

_POLL_S = 0.01
_MARKER = "wblab: recording"
_LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)


class Recording:
    """A trace-cmd process that records to `output`, from `start` to `stop`."""

    def __init__(self, trace: Trace, tracecmd: str, output: Path) -> None:
        self.trace = trace
        self.log = output.with_name(TRACE_LOG)
        self.command = [tracecmd, "record", "-C", "mono", "-b", str(trace.buffer // 1024), "-o", str(output)]
        for event in trace.events:
            self.command += ["-e", event]
            if event in trace.filters:
                self.command += ["-f", trace.filters[event]]
            if event in trace.triggers:
                self.command += ["-R", trace.triggers[event]]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, limit_s: float) -> None:
        """Start trace-cmd and wait until it has recorded an event. Raises WblabError."""
        put(TRACEFS / "tracing_on", 0, "tracing_on")  # trace-cmd sets it to 1 as its last step
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + limit_s
        while (TRACEFS / "tracing_on").read_text().strip() != "1":
            self._check_alive()
            if time.monotonic() > deadline:
                raise WblabError(
                    f"trace-cmd did not start recording within {limit_s:g} s of guest time: {self._output()}"
                )
            time.sleep(_POLL_S)
        (TRACEFS / "trace_marker").write_text(_MARKER)
        if not self._entries():
            raise WblabError(f"tracing is on, but the kernel records no event: {self._output()}")

    def stop(self) -> int:
        """Stop recording and return the number of lost events. Raises WblabError if trace-cmd failed."""
        assert self.process is not None
        self._check_alive()
        put(TRACEFS / "tracing_on", 0, "tracing_on")
        lost = sum(int(count) for stats in self._stats() for count in _LOST.findall(stats))
        self.process.send_signal(signal.SIGINT)
        if self.process.wait():
            raise WblabError(f"trace-cmd failed while it wrote the trace: {self._output()}")
        return lost

    def _stats(self) -> list[str]:
        return [path.read_text() for path in sorted(TRACEFS.glob("per_cpu/cpu*/stats"))]

    def _entries(self) -> int:
        counts = (re.search(r"^(?:entries|read events): ([1-9]\d*)$", stats, re.MULTILINE) for stats in self._stats())
        return sum(count is not None for count in counts)

    def _check_alive(self) -> None:
        assert self.process is not None
        if self.process.poll() is not None:
            raise WblabError(f"trace-cmd ended with exit code {self.process.returncode}: {self._output()}")

    def _output(self) -> str:
        text = self.log.read_text(errors="replace").strip()
        return " / ".join(text.splitlines()[-3:]) or "it printed nothing"
