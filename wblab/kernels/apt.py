"""Debian packages through a private apt, without root and without changes to the system's own lists.

Mirrors, their options (keyrings, architectures) and proxies are those of the system.
"""

import os
import re
import shlex
import shutil
import subprocess
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab import cache
from wblab.lab.distributions import os_release
from wblab.lab.progress import Report

# Suites with the same name on every Debian. Names of releases come from the system.
_CLASSES = {"oldoldstable", "oldstable", "stable", "testing", "unstable", "sid", "experimental"}
_TIMEOUT_S = 300
# apt's hooks are for the system's own lists and must not run for these.
_CONF = """\
Dir::State "{home}/state";
Dir::Cache "{home}/cache";
Dir::Etc::sourcelist "{home}/wblab.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
APT::Get::List-Cleanup "false";
APT::Update::Error-Mode "any";
Acquire::Retries "1";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


@dataclass(frozen=True)
class AptSource:
    """One entry of the system's apt sources that serves binary packages of Debian's main component."""

    uri: str
    suites: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]  # other deb822 fields: Signed-By, Architectures...


@dataclass(frozen=True)
class Package:
    """One version of a package, as a signed index describes it."""

    name: str
    version: str
    suite: str
    file: str
    size_bytes: int
    sha256: str


def parse_one_line(text: str) -> Iterator[AptSource]:
    """Yield the usable entries of a sources.list: `deb [option=value ...] URI suite component...`."""
    for line in text.splitlines():
        match = _LINE.match(line.strip())
        if match and "main" in match["rest"].split() and _fetches(match["uri"]):
            pairs = (option.partition("=") for option in (match["options"] or "").split())
            fields = tuple((_FIELD.get(key, key.title()), value.replace(",", " ")) for key, _, value in pairs)
            yield AptSource(match["uri"], (match["suite"],), fields)


_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<rest>[^#]+)")
_STANZA_FIELD = re.compile(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)
_FIELD = {"arch": "Architectures", "signed-by": "Signed-By", "trusted": "Trusted"}


def parse_deb822(text: str) -> Iterator[AptSource]:
    """Yield the usable entries of a *.sources file."""
    for stanza in re.split(r"\n[ \t]*\n", text):
        lines = "\n".join(line for line in stanza.splitlines() if not line.startswith("#"))
        fields = {name.lower(): (name, value.rstrip()) for name, value in _STANZA_FIELD.findall(lines)}
        words = {key: value.split() for key, (_, value) in fields.items()}
        if (
            "deb" not in words.get("types", [])
            or "main" not in words.get("components", [])
            or words.get("enabled", ["yes"])[0].lower() in ("no", "false", "0", "off", "disable", "without")
        ):
            continue
        others = tuple(field for key, field in fields.items() if key in ("signed-by", "architectures", "trusted"))
        for uri in filter(_fetches, words.get("uris", [])):
            yield AptSource(uri, tuple(words.get("suites", [])), others)


def _fetches(uri: str) -> bool:
    return not uri.startswith("cdrom:")


def sources(entries: Iterable[AptSource], suite: str, codename: str | None) -> str:
    """Return the apt sources (deb822) for one suite of Debian from the mirrors in `entries`; '' if there is none.

    suite: "release" stands for the suites that the system itself uses. codename: the system's release, if it is a
    Debian. Security suites use the mirrors of the release's own security suite.
    """
    stanzas: dict[tuple[str, str], str] = {}
    for entry in entries:
        own = [s for s in entry.suites if _is_debian(s, codename)]
        if suite == "release":
            wanted = own
        else:
            security = suite.endswith("-security")
            wanted = [suite] if any(s.endswith("-security") is security for s in own) else []
        for name in wanted:
            stanzas.setdefault((entry.uri, name), _stanza(entry, name))
    return "\n".join(stanzas.values())


def _is_debian(suite: str, codename: str | None) -> bool:
    # bookworm-security belongs to Debian; bookworm-pgdg does not.
    base, _, pocket = suite.partition("-")
    pockets = ("", "updates", "security", "backports", "proposed-updates", "backports-sloppy")
    return (base in _CLASSES or base == codename) and pocket in pockets


def _stanza(entry: AptSource, suite: str) -> str:
    # Targets and Languages limit the download to one file, the list of packages.
    lines = ["Types: deb", f"URIs: {entry.uri}", f"Suites: {suite}", "Components: main"]
    lines += ["Targets: Packages", "Languages: none", *(f"{key}: {value}" for key, value in entry.fields)]
    return "\n".join(lines) + "\n"


def system_entries(etc: Path = Path("/etc/apt")) -> tuple[AptSource, ...]:
    """Return the usable entries of the system's apt sources, likely mirrors of Debian first."""
    entries: list[AptSource] = []
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        parse = {".list": parse_one_line, ".sources": parse_deb822}.get(path.suffix)
        if parse and path.is_file() and os.access(path, os.R_OK):
            entries += parse(path.read_text(errors="replace"))
    return tuple(sorted(entries, key=lambda entry: "debian" not in urllib.parse.urlsplit(entry.uri).path))


def system_codename(release: Mapping[str, str] | None = None) -> str | None:
    """Return the name of the system's Debian release, or None if it is not a Debian or has no name yet.

    release: the system's variables of os-release(5).
    """
    values = os_release() if release is None else release
    return values.get("VERSION_CODENAME") if values.get("ID") == "debian" else None


def parse_uris(text: str, name: str, suite: str) -> Package | None:
    """Parse the answer of `apt-get --print-uris download`: 'URI' file size SHA256:digest. None: no such package."""
    match = re.search(r"^'(\S+)' (\S+) (\d+) SHA256:([0-9a-f]{64})", text, re.MULTILINE)
    if not match:
        return None
    file = urllib.parse.unquote(match[1].rpartition("/")[2])
    version = urllib.parse.unquote(match[2]).split("_")[1]
    return Package(name, version, suite, file, int(match[3]), match[4])


def find(name: str, suites: Iterable[str], report: Report, version: str = "") -> Package | str:
    """Return the package, in a given version if any, from the first suite that has it, or why there is none."""
    if not shutil.which("apt-get"):
        return "no apt-get here"
    entries, codename = system_entries(), system_codename()
    wanted = f"{name}={version}" if version else name
    tried, trouble = [], ""
    for suite in suites:
        text = sources(entries, suite, codename)
        if not text:
            continue
        report(None, f"looking for {name} in {suite}")
        (_home() / "wblab.sources").write_text(text)
        tried.append(suite)
        # This fails if one mirror lacks the suite; the other mirrors still serve.
        updated = _apt("update")
        found = parse_uris(_apt("--print-uris", "download", wanted).stdout, name, suite)
        if found:
            return found
        if updated.returncode:
            trouble = f" ({update_error(updated.stderr)})"
    if not tried:
        return "the system's apt sources name no mirror of Debian"
    return f"apt offers no {wanted} in {', '.join(tried)}{trouble}"


def names(pattern: str) -> list[str]:
    """Return the names of packages in the lists of the last `find` that match a regular expression."""
    done = subprocess.run(
        ["apt-cache", "-c", str(_home() / "apt.conf"), "pkgnames"], env=_environment(), text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    return sorted(filter(re.compile(pattern).fullmatch, done.stdout.split()))


def update_error(text: str) -> str:
    """Return why apt could not update its lists, from its output."""
    errors = re.findall(r"^E: (?:Failed to fetch \S+ +)?(.+)", text, re.MULTILINE)
    return " ".join(errors[0].split()) if errors else "its lists cannot be read"


def download(package: Package, folder: Path, report: Report) -> Path:
    """Fetch the package of the last `find` into `folder`; apt checks its digest. Raises WblabError."""
    report(None, f"fetching {package.file}")
    path = folder / package.file
    with subprocess.Popen(
        command("download", f"{package.name}={package.version}"),
        cwd=folder, env=_environment(), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        while True:
            try:
                _, errors = process.communicate(timeout=0.2)
                break
            except KeyboardInterrupt:
                process.terminate()
                raise
            except subprocess.TimeoutExpired:
                arrived = max((file.stat().st_size for file in folder.glob(f"{package.name}_*")), default=0)
                report(min(arrived / package.size_bytes, 1.0), f"fetching {package.file}")
    fetched = list(folder.glob(f"{package.name}_*.deb"))
    if process.returncode or not fetched:
        lines = [line for line in errors.splitlines() if line.startswith("E:")]
        raise WblabError(f"cannot fetch {package.file}: {' '.join(lines) or 'apt-get failed'}; is the network up?")
    return fetched[0] if fetched[0] == path else fetched[0].rename(path)


def _home() -> Path:
    """Write apt's private configuration and return its folder."""
    home = cache.room("apt")
    for part in ("state/lists/partial", "cache/archives/partial"):
        cache.room("apt", *part.split("/"))
    (home / "apt.conf").write_text(_CONF.format(home=home))
    return home


def command(*arguments: str) -> list[str]:
    """Return an apt-get command that reads only our sources and writes only below our folder."""
    return ["apt-get", "-q", "-c", str(_home() / "apt.conf"), *arguments]


def _apt(*arguments: str) -> subprocess.CompletedProcess[str]:
    called = command(*arguments)
    with (_home() / "log").open("a") as log:
        log.write(f"$ {shlex.join(called)}\n")
        try:
            done = subprocess.run(
                called, env=_environment(), text=True, capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(called, 1, "", f"E: no answer within {_TIMEOUT_S} s")
        log.write(done.stdout + done.stderr)
    return done


def _environment() -> Mapping[str, str]:
    return {**os.environ, "LC_ALL": "C"}
