from pathlib import Path

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.kernels import config
from wblab.lab.places import LINUX_UML

FRAGMENT = """\
# A heading.

CONFIG_EXT4_FS=y          # the filesystem
CONFIG_BLK_WBT_MQ=n       # off by default
CONFIG_MEMCG_V1=y         # optional: since 6.11
CONFIG_LOCALVERSION="-x"  # a string
"""


def test_a_fragment_gives_options_with_reasons() -> None:
    ext4, wbt, memcg, version = config.parse_fragment(FRAGMENT, "f.config")
    assert ext4 == config.KernelOption("CONFIG_EXT4_FS", "y", "the filesystem", False, "f.config")
    assert (wbt.value, wbt.optional) == ("n", False)
    assert (memcg.why, memcg.optional) == ("since 6.11", True)
    assert version.value == '"-x"'


@pytest.mark.parametrize("line", ["CONFIG_A=y", "CONFIG_A=y #", "A=y  # why", "CONFIG_A  # why", "# ok\nrubbish"])
def test_a_line_without_option_and_reason_is_named(line: str) -> None:
    with pytest.raises(InputError, match=r"f\.config:\d: .* is not 'CONFIG_NAME=value  # why'"):
        config.parse_fragment(line, "f.config")


def test_an_option_in_two_fragments_names_both(tmp_path: Path) -> None:
    for name in ("a.config", "b.config"):
        (tmp_path / name).write_text("CONFIG_A=y  # why\n")
    with pytest.raises(InputError, match=r"CONFIG_A is in a\.config and in b\.config"):
        config.requested(sorted(tmp_path.iterdir()))


def test_reasons_are_not_passed_to_kconfig() -> None:
    text = config.allconfig(config.parse_fragment(FRAGMENT, "f"))
    assert text.splitlines() == [
        "CONFIG_EXT4_FS=y",
        "# CONFIG_BLK_WBT_MQ is not set",
        "CONFIG_MEMCG_V1=y",
        'CONFIG_LOCALVERSION="-x"',
    ]


def test_the_result_is_compared_with_the_requested_options() -> None:
    options = config.parse_fragment(FRAGMENT, "f")
    came_out = config.parse_config('CONFIG_BLK_WBT_MQ=y\n# CONFIG_EXT4_FS is not set\nCONFIG_LOCALVERSION="-x"\n')
    assert [option.name for option in config.missing(options, came_out)] == ["CONFIG_EXT4_FS", "CONFIG_BLK_WBT_MQ"]


def test_a_missing_option_is_reported_with_its_dependencies(tree: Path) -> None:
    (tree / "Kconfig").write_text(
        'config DM_DELAY_2\n\tbool "other"\n\tdepends on NEVER\n\n'
        'config DM_DELAY\n\ttristate "Delay" if EXPERT\n\tdepends on BLK_DEV_DM && \\\n\t\tMD\n\thelp\n'
        "\t  This depends on nothing.\n\nconfig NEXT\n\tbool\n\tdepends on NEVER\n"
    )
    options = config.parse_fragment("CONFIG_DM_DELAY=y  # slow\nCONFIG_GONE=y  # old\n", "block.config")
    with pytest.raises(WblabError) as raised:
        config.check(options, {"CONFIG_MD": "y", "CONFIG_EXPERT": "y"}, tree)
    message = str(raised.value)
    assert "CONFIG_DM_DELAY=y (block.config) is n: it depends on EXPERT and BLK_DEV_DM && MD, where" in message
    assert "BLK_DEV_DM=n, EXPERT=y, MD=y;" in message
    assert "CONFIG_GONE=y (block.config) is n: this kernel has no such option" in message
    assert "NEVER" not in message
    assert "\n" not in message


def test_the_fragments_of_the_lab_are_well_formed() -> None:
    options = config.requested(sorted((LINUX_UML / "config").glob("*.config")))
    assert {"CONFIG_EXT4_FS", "CONFIG_HOSTFS", "CONFIG_UML_TIME_TRAVEL_SUPPORT"} <= {option.name for option in options}
