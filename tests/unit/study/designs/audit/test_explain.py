"""A full trace has every event that the kernel has, and no other."""

from wblab.kernels import Kernel
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.audit.report import traced_fully


def test_every_known_system_of_the_kernel_is_traced(tmp_path):
    (tmp_path / "linux").write_text("\0block\0writeback\0syscalls\0")  # the kernel lacks syscall events
    kernel = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", (), "f00", "source", "gcc")
    spec = read_spec(PRESETS / "base.toml")
    traced = traced_fully(spec, kernel)
    assert traced.trace.events == ("block", "writeback")
    assert traced.trace.buffer >= 32 << 20
    assert (traced.load, traced.disk, traced.seed) == (spec.load, spec.disk, spec.seed)
