import gzip
import hashlib
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import kernel

CONFIG = b"CONFIG_64BIT=y\n"
BANNER = b"\0Linux version 7.3.0-rc7 (wblab@localhost) (gcc (Debian 12.2.0) 12.2.0, GNU ld 2.40) #1 then\0"


def executable(path: Path, *, config: bytes = b"IKCFG_ST" + gzip.compress(CONFIG) + b"IKCFG_ED") -> Path:
    path.write_bytes(b"\x7fELF" + BANNER + b"umid=\0um_seed=\0" + config)
    return path


def test_release_and_configuration_are_read_from_an_executable(tmp_path: Path) -> None:
    path = executable(tmp_path / "linux")
    built = kernel.inspect(path)
    assert (built.series, built.release, built.compiler) == ("7.3", "7.3.0-rc7", "gcc (Debian 12.2.0) 12.2.0")
    assert built.config is not None
    assert built.config.read_bytes() == CONFIG
    assert built.config_sha256 == hashlib.sha256(CONFIG).hexdigest()
    assert built.build_id == hashlib.sha256(path.read_bytes()).hexdigest()
    assert built.held(["um_seed", "bytes_per_second"]) == {"um_seed"}
    assert "path" not in built.describe()


@pytest.mark.parametrize("config", [b"", b"IKCFG_ST broken IKCFG_ED"])
def test_an_executable_without_configuration_is_refused(tmp_path: Path, config: bytes) -> None:
    built = kernel.inspect(executable(tmp_path / "linux", config=config))
    assert (built.config, built.config_sha256) == (None, "")


def test_another_program_is_not_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "ls").write_bytes(b"\x7fELF and so on")
    with pytest.raises(InputError, match="ls is not a User Mode Linux executable"):
        kernel.inspect(tmp_path / "ls")
