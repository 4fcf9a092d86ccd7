"""Write a remedy as files for sysctl.d(5), udev(7) and systemd.slice(5), each with its undo commands.

Nothing here touches the machine. A rule's match comes from this machine and has no character that is special to udev or
a shell (see `known_by`). Its value is a number or a scheduler (`Wanted.is_allowed`). The directory of a slice may have
any name and is checked here. Words of commands are quoted, and a comment stays on its line.
"""

import os
import re
import shlex
from collections.abc import Iterable, Sequence

from wblab.lab.printable import printable
from wblab.live.advise.machinesite import MachineSite
from wblab.live.advise.plan import Candidate
from wblab.live.advise.record import Advice
from wblab.live.advise.settings import WantedSetting, paths
from wblab.live.changes.permitted import counterpart

SYSCTL, RULES, SLICE = "90-wblab.conf", "90-wblab.rules", "wblab-bulk.slice"
_PLACES = {SYSCTL: "/etc/sysctl.d", RULES: "/etc/udev/rules.d", SLICE: "/etc/systemd/system"}
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9._/+-]*")


def files_of(candidate: Candidate, advice: Advice) -> dict[str, str]:
    """Return the files that a remedy needs, by name."""
    makers = {SYSCTL: _sysctl, RULES: _rules, SLICE: _slice}
    content = {name: make(candidate.wanted, advice.site) for name, make in makers.items()}
    return {
        name: "\n".join([*_head(name, candidate, advice), "", *lines, ""]) for name, lines in content.items() if lines
    }


def install_commands(name: str, site: MachineSite, directory: str = "") -> list[str]:
    """Return the commands that install a file from `directory` (default: here) and activate it."""
    devices = shlex.join(f"--name-match=/dev/{device}" for device in site.known_by)
    effect = {
        SYSCTL: f"sysctl -p {_PLACES[SYSCTL]}/{SYSCTL}",
        RULES: f"udevadm control --reload && sudo udevadm trigger --action=change {devices}",
        SLICE: "systemctl daemon-reload",
    }
    return [
        f"sudo install -m 644 {shlex.quote(os.path.join(directory, name))} {_PLACES[name]}/",
        f"sudo {effect[name]}",
    ]


def undo_commands(name: str, candidate: Candidate, advice: Advice) -> list[str]:
    """Return the commands that undo a file's effect and restore the earlier values."""
    commands = [f"sudo rm {_PLACES[name]}/{name}"]
    if name == SLICE:
        return [*commands, f"sudo systemctl stop {SLICE}", "sudo systemctl daemon-reload"]
    if name == RULES:
        commands.append("sudo udevadm control --reload")
    kinds = ("sysctl",) if name == SYSCTL else ("queue", "bdi")
    return [*commands, *restoring_commands([item for item in candidate.wanted if item.where in kinds], advice)]


def restoring_commands(items: Iterable[WantedSetting], advice: Advice) -> list[str]:
    """Return the commands that write the values before into the files of settings, where those are known."""
    known = dict.fromkeys(path for item in items for path in _shown(item, advice))
    return [f"echo {shlex.quote(advice.before[path])} | sudo tee {shlex.quote(path)}" for path in known]


def group_commands() -> list[str]:
    """Return the lines that put a program, and a service, into the group of heavy writers."""
    return [f"sudo systemd-run --scope --slice={SLICE} COMMAND", f"Slice={SLICE}"]


def _shown(item: WantedSetting, advice: Advice) -> list[str]:
    """Return the files of a setting whose value before is known."""
    found = []
    for path in paths(item.where, item.key, advice.site):
        found += [str(each) for each in (path, counterpart(path)) if str(each) in advice.before]
    return found


def _head(name: str, candidate: Candidate, advice: Advice) -> list[str]:
    lines = [f"{candidate.name}: {candidate.about}.", f"Made by wblab advise, {advice.made[:10]}.", "Install:"]
    lines += [f"    {command}" for command in install_commands(name, advice.site)]
    lines += ["Undo, and restore the values before:"]
    lines += [f"    {command}" for command in undo_commands(name, candidate, advice)]
    if name == SLICE:
        lines += ["Put a program into it with the first line, a service with the second line in its [Service]:"]
        lines += [f"    {command}" for command in group_commands()]
    return [f"# {printable(line)}" for line in lines]


def _sysctl(wanted: Sequence[WantedSetting], site: MachineSite) -> list[str]:
    return [f"{item.key} = {item.value}" for item in wanted if item.where == "sysctl"]


def _rules(wanted: Sequence[WantedSetting], site: MachineSite) -> list[str]:
    """Return the rules, one line per disk and setting. The scheduler comes first, because it replaces the queue."""
    rules = []
    for item in wanted:
        devices = {"queue": site.disks, "bdi": (site.device,)}.get(item.where, ())
        for device in devices:
            if item.where == "bdi" and not site.bdi[:1].isdigit():
                rules.append(f"# no rule can set {item.key} of {site.bdi}: its name changes with each mount")
                continue
            match = f'ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", {site.known_by[device]}'
            rules.append(f'{match}, ATTR{{{item.where}/{item.key}}}="{item.value}"')
    return rules


def _slice(wanted: Sequence[WantedSetting], site: MachineSite) -> list[str]:
    lines = []
    for item in wanted:
        if item.where != "slice":
            continue
        value = item.value
        if "{dir}" in value:  # it applies to the disk that holds the directory
            place = site.directory if _PLAIN_PATH.fullmatch(site.directory) else f"/dev/{site.device}"
            value = value.replace("{dir}", place)
        lines.append(f"{item.key}={value}")
    return ["[Unit]", "Description=Heavy writers", "", "[Slice]", *lines] if lines else []
