"""Files from the web: what arrives is what was asked for, by its digest, or is not kept."""

import hashlib
import os
import urllib.request
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab.progress import Report

TIMEOUT_S = 10  # for each answer, not for the whole transfer
_CHUNK_BYTES = 1 << 20


def read(url: str) -> bytes:
    """Return what is at a URL, some MiB at most. Raises OSError."""
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        content: bytes = answer.read(16 << 20)
    return content


def why(error: OSError) -> str:
    """Return in some words why a URL cannot be read."""
    return str(getattr(error, "reason", error))


def download(url: str, sha256: str, path: Path, report: Report) -> Path:
    """Fetch a file to `path`, a name in the cache. Raises WblabError when it does not arrive whole, or is another."""
    report(None, f"fetching {path.name}")
    staged = path.with_name(f".{path.name}")
    staged.unlink(missing_ok=True)
    digest = hashlib.sha256()
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, open(descriptor, "wb") as file:
            total_bytes = int(answer.headers.get("Content-Length") or 0)
            while chunk := answer.read(_CHUNK_BYTES):
                file.write(chunk)
                digest.update(chunk)
                report(file.tell() / total_bytes if total_bytes else None, f"fetching {path.name}")
    except OSError as error:  # URLError and timeouts are OSErrors
        staged.unlink(missing_ok=True)
        raise WblabError(f"cannot fetch {url}: {why(error)}") from None
    if digest.hexdigest() != sha256:
        staged.unlink()
        raise WblabError(
            f"{url} is not what it should be: its digest is {digest.hexdigest()[:16]}…, not {sha256[:16]}…"
        )
    return staged.rename(path)
