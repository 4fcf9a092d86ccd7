"""Where a spec can run, by the names that users give."""

from dataclasses import replace

import pytest

from wblab.claims.witness.substrates import AXIS, cells, substrate
from wblab.core.errors import InputError
from wblab.kernels import Kernel
from wblab.kernels.here import find
from wblab.kernels.stock.stockkernel import StockKernel, is_stock
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

TIMELESS = "7.2+smp"  # its options do not include time travel


@pytest.fixture
def resolve(tmp_path):
    """Resolve each name to a kernel."""

    def kernel(name):
        config = tmp_path / name
        config.write_text("" if name.startswith(TIMELESS) else "CONFIG_UML_TIME_TRAVEL_SUPPORT=y\n")
        kind = StockKernel if is_stock(name) else Kernel
        return kind(tmp_path / "linux", config, "7.2", "7.2.1", "", (), "f00", "a source", "gcc 12")

    return kernel


SPEC = read_spec(SPECS.find("two-disks"))


@pytest.mark.parametrize(
    ("name", "kernel", "real", "words"),
    [
        ("7.2", "7.2", False, "User Mode Linux, 1 processor, virtual time"),
        ("7.2/real", "7.2", True, "User Mode Linux, 1 processor, the host's clock"),
        ("stock:7.2", "stock:7.2", False, "a distribution's kernel in QEMU, 1 processor, virtual time"),
        ("stock:7.2@1", "stock:7.2", False, "a distribution's kernel in QEMU, 1 processor, virtual time"),
        ("stock:7.2@4/real", "stock:7.2@4", True, "a distribution's kernel in QEMU, 4 processors, the host's clock"),
        (
            "stock:7.2+uas@1",
            "stock:7.2+uas",
            True,
            "a distribution's kernel in QEMU, disks by its driver uas, 1 processor, the host's clock",
        ),
        ("7.2+smp@4", "7.2+smp@4", False, "User Mode Linux, 4 processors, virtual time"),
        ("7.2+smp@1/real", "7.2+smp", True, "User Mode Linux, 1 processor, the host's clock"),
        ("/a/real/linux", "/a/real/linux", False, "User Mode Linux, 1 processor, virtual time"),
        ("./real/real", "./real", True, "User Mode Linux, 1 processor, the host's clock"),
    ],
)
def test_a_name_is_a_kernel_and_perhaps_a_clock(name, kernel, real, words):
    found = substrate(name)
    assert (found.name, found.kernel, found.real, found.words) == (name, kernel, real, words)


@pytest.mark.parametrize("name", ["", "/real", "stock:", "stock:7.2@0", "stock:7.2@4/real/real", "stock:7.2/unreal"])
def test_a_bad_name_is_refused(name):
    with pytest.raises(InputError, match=r"7\.2"):
        substrate(name)


def test_a_kernel_without_virtual_time_has_the_hosts_clock(resolve):
    found = cells(SPEC, [substrate("7.2"), substrate("7.2+smp@4")], resolve)
    assert [(cell.spec.kernel.name, cell.spec.clock.mode) for cell in found] == [
        ("7.2", "virtual"),
        ("7.2+smp@4", "real"),
    ]
    assert substrate("7.2+smp@4").settled(resolve).words == "User Mode Linux, 4 processors, the host's clock"
    with pytest.raises(InputError, match="given twice"):
        cells(SPEC, [substrate("7.2+smp@4"), substrate("7.2+smp@4/real")], resolve)


def test_all_cells_have_the_same_loads_disks_and_limits_in_bytes(resolve):
    names = ("7.2", "stock:7.2", "stock:7.2@4/real")
    found = cells(SPEC, [substrate(name) for name in names], resolve)
    assert [cell.levels[AXIS] for cell in found] == list(names)
    assert [cell.spec.kernel.name for cell in found] == ["7.2", "stock:7.2", "stock:7.2@4"]
    assert [cell.spec.clock.mode for cell in found] == ["virtual", "virtual", "real"]
    alike = {repr(replace(cell.spec, kernel=SPEC.kernel, clock=SPEC.clock)) for cell in found}
    assert len(alike) == 1
    assert found[0].spec.trace.events == ()
    assert not any("ratio" in key for key in found[0].spec.sysctl)


def test_names_of_cells_are_plain_short_and_distinct(resolve):
    on = [substrate(name) for name in ("stock:7.2", "stock:7.2@2", f"stock:7.2{'x' * 99}", f"stock:7.2{'x' * 98}")]
    found = [cell.name for cell in cells(SPEC, on, resolve)]
    assert found[:2] == ["0-stock-7.2", "1-stock-7.2-2"]
    assert len(set(found)) == 4
    assert max(map(len, found)) <= 40


def test_what_a_stock_kernel_cannot_run_is_refused_only_where_one_is_asked_for(resolve):
    seeks = read_spec(SPECS.find("two-disks"), ["disk.slow.seek_time=1ms"])
    assert cells(seeks, [substrate("7.2")], resolve)
    with pytest.raises(InputError, match=r"disk\.slow\.seek_time"):
        cells(seeks, [substrate("7.2"), substrate("stock:7.2")], resolve)


def test_this_machine_is_a_substrate_with_a_directory_for_each_disk(resolve):
    name = "live:slow=/mnt/a@4,fast=/mnt/b"
    found = substrate(name)
    assert (found.name, found.kernel, found.real) == (name, name, True)
    assert found.words.startswith("this machine, ")
    assert found.words.endswith(", the host's clock")
    cell = cells(SPEC, [found], lambda _: find(name))[0]
    assert (cell.spec.kernel.name, cell.spec.clock.mode) == (name, "real")
    assert cell.name == "0-live-slow-mnt-a-4-fast-mnt-b"


@pytest.mark.parametrize(
    ("settings", "name", "said"),
    [
        (["phase.p={at='1s'}"], "live:slow=/a,fast=/b", r"phase\.p: that is only for guests"),
        ([], "live:/a", "two-disks has disks slow and fast"),
    ],
)
def test_what_this_machine_cannot_run_is_refused(settings, name, said):
    with pytest.raises(InputError, match=said):
        cells(read_spec(SPECS.find("two-disks"), settings), [substrate(name)], lambda _: find(name))
