"""Everything that a kernel has is traced, and nothing that it does not have."""

from wblab.kernels import Kernel
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.repeat.explain import traced_fully


def test_all_systems_that_a_kernel_has_are_traced(tmp_path):
    (tmp_path / "linux").write_text("\0block\0writeback\0syscalls\0")  # without what makes syscalls events
    kernel = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", (), "f00", "source", "gcc")
    spec = read_spec(PRESETS / "base.toml")
    traced = traced_fully(spec, kernel)
    assert traced.trace.events == ("block", "writeback")
    assert traced.trace.buffer >= 32 << 20
    assert (traced.load, traced.disk, traced.seed) == (spec.load, spec.disk, spec.seed)
