"""Debian's archive of all its packages, snapshot.debian.org.

It names files by SHA-1, and lists the SHA-1 for each version of a binary package. The lab then checks the SHA-256 of
the pin. Interface: https://salsa.debian.org/snapshot-team/snapshot/raw/master/API
"""

import json
import urllib.parse

from wblab.kernels import download


def find(package: str, version: str, site: str) -> str:
    """Return the URL of a package for all architectures. Raises LookupError with the reason if there is none."""
    place = f"{site}/mr/binary/{package}/{urllib.parse.quote(version)}/binfiles"
    try:
        result = json.loads(download.read(place))["result"]
        name = next(str(entry["hash"]) for entry in result if entry["architecture"] == "all")
    except OSError as error:
        raise LookupError(f"{site} cannot be read ({download.why(error)})") from None
    except (ValueError, LookupError, TypeError, StopIteration):
        raise LookupError(f"{site} has no {package} {version}") from None
    return f"{site}/file/{urllib.parse.quote(name, safe='')}"
