"""What is checked before a matrix begins. Nothing is booted; the tests bring their own kernel resolver."""

from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.kernels import Kernel
from wblab.study.begin import check_kernels, described, orders, requests, with_kernel

BUILD = "a" * 64


def fine(spec):
    """Check nothing of this machine."""


@pytest.fixture
def resolve(tmp_path):
    """Return a resolver of two kernels."""
    (tmp_path / "linux").write_text("an executable")
    kernel = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", ("x.patch",), BUILD, "a source", "gcc")
    kernels = {"": kernel, "6.12": replace(kernel, series="6.12", build_id="b" * 64)}

    def find(name):
        if name not in kernels:
            raise InputError(f"the kernel {name} is not built yet")
        return kernels[name]

    return find


def test_the_kernels_of_the_cells_are_used(make_matrix, resolve):
    kernels = described(make_matrix({"kernel": ["", "6.12"]}), resolve)
    assert {name: kernel["build_id"] for name, kernel in kernels.items()} == {"": BUILD, "6.12": "b" * 64}
    with pytest.raises(InputError, match="not built yet"):
        described(make_matrix({"kernel": ["6.1"]}), resolve)


def test_every_cell_becomes_a_request_on_its_kernel(make_matrix, resolve):
    matrix = make_matrix({"kernel": ["", "6.12"]})
    found = requests(matrix, resolve, here=True, check=fine)
    assert [(one.spec, one.kernel.build_id[0]) for one in found] == [
        (cell.spec, letter) for cell, letter in zip(matrix.cells, "ab", strict=True)
    ]


def test_an_invalid_cell_is_named(make_matrix, resolve):
    matrix = make_matrix({"trace.events": [[], ["writeback:nothing"]]})
    with pytest.raises(InputError, match=r"has no writeback:nothing: .* \(in the cell trace\.events "):
        requests(matrix, resolve, here=True, check=fine)


def test_this_machine_is_not_checked_if_a_cluster_makes_the_runs(make_matrix, resolve):
    def refused(spec):
        raise InputError("not on this machine")

    matrix = make_matrix()
    assert len(requests(matrix, resolve, here=False, check=refused)) == 1
    with pytest.raises(InputError, match="not on this machine"):
        requests(matrix, resolve, here=True, check=refused)


def test_a_matrix_resumes_with_its_original_kernels(make_store, resolve):
    store = make_store()
    check_kernels(store, resolve)
    store.kernels[""] = {"build_id": "c" * 64}
    with pytest.raises(InputError, match=r"was begun with another kernel: the kernel 7\.3 is another build here"):
        check_kernels(store, resolve)
    store.kernels.clear()
    with pytest.raises(InputError, match="does not name the build of ''"):
        check_kernels(store, resolve)


def test_every_cell_becomes_an_order_for_workers(make_matrix, resolve):
    matrix = make_matrix({"kernel": ["", "6.12"]})
    found = orders(matrix, described(matrix, resolve))
    assert [order.build_id[0] for order in found] == ["a", "b"]
    assert [order.unpacked() for order in found] == [cell.spec for cell in matrix.cells]


def test_a_given_kernel_is_used_for_all_runs(make_matrix):
    matrix = with_kernel(make_matrix({"disk.write_bps": ["1M", "2M"]}), ["6.12"])
    assert {cell.spec.kernel.build for cell in matrix.cells} == {"6.12"}


def test_a_given_kernel_keeps_the_options_of_the_cells(make_matrix, resolve):
    matrix = make_matrix({"kernel.config.X": ["n", "y"]})
    assert [cell.spec.kernel.build for cell in with_kernel(matrix, ["6.12"]).cells] == ["6.12+X=n", "6.12+X=y"]
    with pytest.raises(InputError, match=r"the kernel \+X=n is not built yet"):
        described(matrix, resolve)


def test_without_a_given_kernel_or_with_named_kernels_nothing_changes(make_matrix):
    matrix = make_matrix({"kernel": ["7.3", "6.12"]})
    assert with_kernel(matrix, []) == with_kernel(matrix, ["6.12"]) == with_kernel(matrix, ["6.12", "7.3"]) == matrix


@pytest.mark.parametrize("given", [["6.1"], ["6.12", "6.1"]])
def test_an_unused_kernel_is_refused(make_matrix, given):
    with pytest.raises(InputError, match=r"--kernel 6.1: no run of m uses it: its runs name 6.12, 7.3: leave"):
        with_kernel(make_matrix({"kernel": ["7.3", "6.12"]}), given)
    with pytest.raises(InputError, match="it was begun with the default kernel"):
        with_kernel(make_matrix(), ["6.1"], begun=True)
