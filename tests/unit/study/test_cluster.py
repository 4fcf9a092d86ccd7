"""Workers of a cluster are reached only with the TLS settings of the user's configuration."""

import json
import shutil
import subprocess
import sys
import time

import dask
import pytest

from wblab.core.errors import InputError
from wblab.study.cluster import check_workers, remote


def test_tls_without_certificates_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"needs certificates.*distributed\.comm\.tls"), remote("tls://127.0.0.1:1"):
        pass


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    """Put a self-signed certificate into dask's configuration, for all parts of a cluster."""
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
def test_tls_uses_the_certificates_of_the_configuration(certificates, tmp_path):
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


WITHOUT_THE_LAB = """
import sys
sys.modules["wblab"] = None
from distributed.cli.dask_scheduler import main
main()
"""


def test_a_scheduler_without_the_lab_is_named(tmp_path):
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with subprocess.Popen([sys.executable, "-c", WITHOUT_THE_LAB, *options], stderr=subprocess.DEVNULL) as scheduler:
        try:
            while not file.exists() or not file.read_text().endswith("}"):
                assert scheduler.poll() is None
                time.sleep(0.05)
            address = json.loads(file.read_text())["address"]
            with remote(address) as client, pytest.raises(InputError, match=r"the scheduler cannot use the lab \("):
                check_workers(client, [])
        finally:
            scheduler.kill()
