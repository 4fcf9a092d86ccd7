"""On how many processors a kernel can run, and the error for too many."""

from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels.features import on_processors
from wblab.kernels.kernel import Kernel


def kernel(config: Path | None) -> Kernel:
    return Kernel(Path("linux"), config, "7.3", "7.3.0", "", (), "f00", "a source", "gcc 12")


@pytest.fixture
def several(tmp_path: Path) -> Kernel:
    config = tmp_path / "config"
    config.write_text("CONFIG_SMP=y\nCONFIG_NR_CPUS=8\n")
    return kernel(config)


def test_a_kernel_runs_on_as_many_as_it_was_built_for(several: Kernel) -> None:
    assert [on_processors(several, number, "7.3+smp").processors for number in (1, 2, 8)] == [1, 2, 8]
    with pytest.raises(
        InputError, match=r"^kernel 7\.3\+smp@9: it was built for at most 8 processors: give @8 or fewer$"
    ):
        on_processors(several, 9, "7.3+smp@9")


@pytest.mark.parametrize("text", ["# CONFIG_SMP is not set\nCONFIG_NR_CPUS=1\n", "", None])
def test_a_kernel_for_one_processor_gets_no_more(tmp_path: Path, text: str | None) -> None:
    config = tmp_path / "config"
    if text is not None:
        config.write_text(text)
    for single in (kernel(config), kernel(None)):
        assert on_processors(single, 1, "7.3").processors == 1
        with pytest.raises(InputError, match=r"^kernel 7\.3@4: it was built for one processor: .* 7\.2\+smp@4 .*build"):
            on_processors(single, 4, "7.3@4")
