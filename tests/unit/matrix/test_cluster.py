"""Workers of this machine: they work, and nobody else reaches them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dask
import pytest

from wblab.core.errors import InputError
from wblab.matrix.cluster import local, remote

INTRUDER = """
import sys
from distributed import Client
Client(sys.argv[1], timeout="3s").submit(print, "inside").result(timeout=3)
"""


@pytest.fixture
def client(tmp_path):
    with local(2, tmp_path / "room") as client:
        yield client


def sockets() -> set[str]:
    """Return the sockets of this process that have an address, a name or a peer that is no other part of it."""
    inodes = set()
    for path in Path("/proc/self/fd").glob("*"):
        try:
            inodes.add(os.readlink(path).removeprefix("socket:[").rstrip("]"))
        except OSError:
            continue
    tables = {name: Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6", "udp", "udp6")}
    found = {line.strip() for lines in tables.values() for line in lines if line.split()[9] in inodes}
    named = (line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:])
    return found | {words[7] for words in named if words[6] in inodes and len(words) > 7}


def test_they_are_in_this_process_and_open_no_socket(tmp_path):
    before = sockets()
    with local(2, tmp_path / "room") as client:
        assert list(client.run(os.getpid).values()) == [os.getpid()] * 2
        assert sockets() == before
    assert not (tmp_path / "room").exists()


def test_an_intruder_cannot_connect(client):
    addresses = [client.scheduler_info()["address"], *client.nthreads()]
    assert len(addresses) == 3
    for address in addresses:
        done = subprocess.run([sys.executable, "-c", INTRUDER, address], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "inside" not in done.stdout
        assert "Error: " in done.stderr


def test_a_configuration_that_demands_certificates_changes_nothing(tmp_path):
    with dask.config.set({"distributed.comm.require-encryption": True}), local(1, tmp_path / "room") as client:
        assert client.submit(abs, -1).result() == 1


def test_tls_without_certificates_is_one_line():
    with pytest.raises(InputError, match=r"needs certificates.*distributed\.comm\.tls"), remote("tls://127.0.0.1:1"):
        pass


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    """A certificate that signs itself, in dask's configuration, for all parts of a cluster."""
    both = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=wblab", "-days", "1",
         "-keyout", both[0], "-out", both[1]], check=True, capture_output=True
    )  # fmt: skip
    tls = "distributed.comm.tls"
    parts = {f"{tls}.{part}": {"key": str(both[0]), "cert": str(both[1])} for part in ("client", "scheduler", "worker")}
    with dask.config.set({f"{tls}.ca-file": str(both[1])} | parts):
        yield


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificates, and is not installed")
def test_tls_with_certificates_of_the_configuration(certificates, tmp_path):
    from distributed import LocalCluster, Security

    with (
        LocalCluster(
            n_workers=1,
            processes=False,
            protocol="tls://",
            host="127.0.0.1",
            security=Security(),
            dashboard_address=":0",
        ) as cluster,
        remote(cluster.scheduler_address) as client,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        assert client.submit(abs, -1).result() == 1
