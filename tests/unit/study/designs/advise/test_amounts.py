import pytest
from support.advised import MACHINE, MIB

from wblab.core.errors import InputError
from wblab.study.designs.advise.remedies import in_bytes, share


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("500ms", 50 * MIB),  # of 100 MiB/s
        ("1 s", 100 * MIB),
        ("0.5s", 50 * MIB),
        ("128us", 12 << 10),  # small amounts are whole pages
        ("123ms", 12 * MIB),  # others are whole MiB
        ("5%", 409 * MIB),
        ("2.5 %", 204 * MIB),
        ("1% of the limit", 16 * MIB),  # of 1600 MiB
        ("0.111 % of the limit", 454 << 12),  # rounded to whole pages
        ("64MiB", 64 * MIB),
        ("67108864", 64 * MIB),
    ],
)
def test_an_amount_is_relative_to_the_disk_or_to_memory_or_absolute(text, found):
    assert in_bytes(text, MACHINE) == found


@pytest.mark.parametrize("text", ["", "fast", "5 %%", "-1s", "1 fortnight"])
def test_an_invalid_amount_is_refused_with_examples(text):
    with pytest.raises(InputError, match="write for example"):
        in_bytes(text, MACHINE)


def test_a_share_has_limits():
    assert (share("80%"), share("80")) == (0.8, None)
    for text in ("0%", "101%"):
        with pytest.raises(InputError, match="not a percentage"):
            share(text)
