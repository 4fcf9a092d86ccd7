import json
from pathlib import Path

from wblab.host.machine import available_memory_bytes, describe_host, free_shared_bytes, shared_memory
from wblab.host.sandbox import landlock_version


def test_shared_memory_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("WBLAB_SHM", raising=False)
    assert shared_memory() == Path("/dev/shm")
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    assert shared_memory() == tmp_path
    assert free_shared_bytes() > 0


def test_available_memory_is_read():
    assert 1 << 20 < available_memory_bytes() < 1 << 50


def test_the_host_has_its_documented_description():
    host = describe_host()
    assert list(host) == ["cpu", "cores", "uname", "python", "tools", "landlock"]
    assert host["cores"] >= 1
    assert "mke2fs" in host["tools"]
    assert host["landlock"] == landlock_version()
    json.dumps(host)
