"""Parameters of kernels, told by names in their executables."""

import pytest

from wblab.host.parameters import may_take
from wblab.kernels import Kernel

TEXTS = b"\0um_cycles\0time-travel-start=\0\x07ext4.mb_scan\0printk.devkmsg=\0hello um_none \0"


@pytest.mark.parametrize(
    ("name", "there"),
    [
        *[("um_cycles", True), ("um-cycles", True), ("time_travel-start", True), ("ext4.mb_scan", True)],
        *[("printk.devkmsg", True), ("um_cycle", False), ("m_cycles", False), ("um_cycless", False)],
        *[("xt4.mb_scan", False), ("mb_scan", False), ("um_none", False), ("ext4xmb_scan", False), ("+", False)],
    ],
)
def test_a_parameter_is_a_whole_text_of_the_executable(tmp_path, name, there):
    (tmp_path / "linux").write_bytes(TEXTS)
    kernel = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", (), "f00", "source", "gcc")
    assert may_take(kernel, name) is there
