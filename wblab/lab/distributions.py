"""Linux distributions: which one this is, what its packages are called, and the command that installs them.

Packages go by Debian's names in the lab; a distribution says which of its own are called otherwise. Debian's were all
tried. The others' are what these distributions are known to call them: the lab has not installed them there.
"""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Distribution:
    """A family of distributions.

    ids: its ID, or what its relatives have in ID_LIKE. install: the command, without `sudo` and packages. differing:
    its names for Debian's packages; None where it has no such package. headers: whether they are in /usr/include.
    """

    name: str
    ids: tuple[str, ...]
    install: tuple[str, ...]
    differing: Mapping[str, str | None] = field(default_factory=dict)
    needs_root: bool = True
    headers: bool = True

    def packages(self, names: Sequence[str]) -> list[str]:
        """Return its packages for those that Debian calls `names`, in the same order, each once."""
        own = (self.differing.get(name, name) for name in names)
        return list(dict.fromkeys(filter(None, own)))

    def command(self, names: Sequence[str], user: int | None = None) -> list[str]:
        """Return the one command that installs what Debian calls `names`, for a person to copy or for root to run.

        user: the number of who runs it; None: ours.
        """
        sudo = ["sudo"] if self.needs_root and (os.geteuid() if user is None else user) else []
        return [*sudo, *self.install, *self.packages(names)]


DEBIAN = Distribution("Debian", ("debian", "ubuntu"), ("apt-get", "install", "--yes", "--no-install-recommends"))
_FEDORA = Distribution(
    "Fedora",
    ("fedora", "rhel", "centos"),
    ("dnf", "install"),
    {
        "libc6-dev": "glibc-devel",
        "linux-libc-dev": "kernel-headers",
        "xz-utils": "xz",
        "python3-venv": "python3",
        "pkg-config": "pkgconf-pkg-config",
        "procps": "procps-ng",
        "mount": "util-linux",
        "libtracecmd-dev": "libtracecmd-devel",
        "libtracefs-dev": "libtracefs-devel",
        "libtraceevent-dev": "libtraceevent-devel",
        "qemu-system-x86": "qemu-system-x86-core",
    },
)
_ARCH = Distribution(
    "Arch",
    ("arch",),
    ("pacman", "-S", "--needed"),
    {
        "libc6-dev": "glibc",
        "linux-libc-dev": "linux-api-headers",
        "xz-utils": "xz",
        "python3-venv": "python",
        "pkg-config": "pkgconf",
        "procps": "procps-ng",
        "mount": "util-linux",
        "libtracecmd-dev": "trace-cmd",
        "libtracefs-dev": "libtracefs",
        "libtraceevent-dev": "libtraceevent",
        "qemu-system-x86": "qemu-system-x86",
    },
)
_OPENSUSE = Distribution(
    "openSUSE",
    ("opensuse", "suse"),
    ("zypper", "install"),
    {
        "libc6-dev": "glibc-devel",
        "linux-libc-dev": "linux-glibc-devel",
        "btrfs-progs": "btrfsprogs",
        "xz-utils": "xz",
        "python3-venv": "python3",
        "pkg-config": "pkgconf-pkg-config",
        "mount": "util-linux",
        "libtracecmd-dev": None,
        "libtracefs-dev": "libtracefs-devel",
        "libtraceevent-dev": "libtraceevent-devel",
    },
)
_ALPINE = Distribution(
    "Alpine",
    ("alpine",),
    ("apk", "add"),
    {
        "libc6-dev": "musl-dev",
        "linux-libc-dev": "linux-headers",
        "xz-utils": "xz",
        "python3-venv": "python3",
        "pkg-config": "pkgconf",
        "procps": "procps-ng",
        "libtracecmd-dev": None,
        "qemu-system-x86": "qemu-system-x86_64",
    },
)
_NIXOS = Distribution(
    "NixOS",
    ("nixos",),
    ("nix-shell", "-p"),
    {
        "libc6-dev": None,  # comes with gcc
        "linux-libc-dev": None,
        "make": "gnumake",
        "patch": "gnupatch",
        "tar": "gnutar",
        "xz-utils": "xz",
        "python3-venv": "python3",
        "mount": "util-linux",
        "libtracecmd-dev": "trace-cmd",
        "libtracefs-dev": "libtracefs",
        "libtraceevent-dev": "libtraceevent",
    },
    needs_root=False,
    headers=False,
)
ALL = (DEBIAN, _FEDORA, _ARCH, _OPENSUSE, _ALPINE, _NIXOS)


def os_release() -> Mapping[str, str]:
    """Return this machine's variables of os-release(5); none where it has no such file, or one that is no text."""
    try:
        return platform.freedesktop_os_release()
    except (OSError, UnicodeDecodeError):
        return {}


def this_distribution(release: Mapping[str, str] | None = None) -> Distribution | None:
    """Return this machine's distribution, else the first known one that it is like; else None.

    release: the variables of its os-release(5).
    """
    found = os_release() if release is None else release
    for name in (found.get("ID", ""), *found.get("ID_LIKE", "").split()):
        for distribution in ALL:
            if name in distribution.ids:
                return distribution
    return None
