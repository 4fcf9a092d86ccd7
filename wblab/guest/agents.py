"""Agents: programs that run in the guest beside the loads, with access to the lab."""

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from wblab.core import layout
from wblab.core.child import describe_code
from wblab.core.errors import WblabError
from wblab.core.rundir import agent_log
from wblab.core.spec import Agent, Spec
from wblab.core.syscalls import MS_RDONLY
from wblab.guest.mounts import mount_host

_STOP_LIMIT_S = 60.0


@dataclass(frozen=True)
class RunningAgent:
    """An agent that is running."""

    name: str
    log: Path
    process: "subprocess.Popen[bytes]"


def provide_lab(python: str) -> None:
    """Mount the lab and its packages, and put them on the paths of commands. python: the lab's interpreter.

    They have paths of their own in the guest, which may hide the host's paths: /tmp is the guest's own.
    """
    mount_host(layout.LAB, layout.LAB_FD, MS_RDONLY)
    mount_host(layout.PACKAGES, layout.PACKAGES_FD, MS_RDONLY)
    layout.PROGRAMS.mkdir()
    (layout.PROGRAMS / "python3").symlink_to(python)
    command = layout.PROGRAMS / "wblab"
    command.write_text(f'#!/bin/sh\nexec {layout.PROGRAMS}/python3 -m wblab "$@"\n')
    command.chmod(0o755)
    os.environ |= {
        "HOME": "/tmp",
        "PATH": os.pathsep.join([str(layout.PROGRAMS), str(layout.LAB), "/usr/sbin:/usr/bin:/sbin:/bin"]),
        "PYTHONPATH": os.pathsep.join(map(str, (layout.LAB, layout.LAB / "misc", layout.PACKAGES))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def start_agents(spec: Spec) -> list[RunningAgent]:
    """Start all agents, with their output to agent.<name>.log of the run directory. Raises WblabError."""
    return [_start(name, agent) for name, agent in spec.agent.items()]


def _start(name: str, agent: Agent) -> RunningAgent:
    log = layout.SCRATCH / agent_log(name)
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(
                agent.argv, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
    except OSError as error:
        raise WblabError(f"cannot start the agent {name}: {agent.argv[0]}: {error.strerror}") from None
    return RunningAgent(name, log, process)


def stop_agents(running: list[RunningAgent]) -> None:
    """End all agents, the last one started first. Raises WblabError for an agent that failed."""
    for agent in reversed(running):
        if (code := agent.process.poll()) is not None:
            raise WblabError(f"the agent {agent.name} ended by itself, with {describe_code(code)}: {_last_line(agent)}")
        agent.process.send_signal(signal.SIGTERM)
        try:
            code = agent.process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise WblabError(f"the agent {agent.name} did not end after SIGTERM: {_last_line(agent)}") from None
        if code not in (0, 128 + signal.SIGINT):  # the exit code of the lab's own commands on a signal
            raise WblabError(f"the agent {agent.name} ended with {describe_code(code)}: {_last_line(agent)}")


def _last_line(agent: RunningAgent) -> str:
    lines = agent.log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it printed nothing"
