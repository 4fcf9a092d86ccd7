"""Downloads, kept only if their digest is the expected one."""

import hashlib
import os
import urllib.request
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab.progress import Report

TIMEOUT_S = 10  # for each answer, not for the whole transfer
_CHUNK_BYTES = 1 << 20


def read(url: str) -> bytes:
    """Return the content of a URL, at most 16 MiB. Raises OSError."""
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        content: bytes = answer.read(16 << 20)
    return content


def why(error: OSError) -> str:
    """Return the reason why a URL cannot be read."""
    return str(getattr(error, "reason", error))


def download(url: str, sha256: str, path: Path, report: Report) -> Path:
    """Fetch a file to `path` in the cache. Raises WblabError if it is incomplete or has another digest."""
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
        raise WblabError(f"{url} has the wrong digest: {digest.hexdigest()[:16]}… instead of {sha256[:16]}…")
    return staged.rename(path)
