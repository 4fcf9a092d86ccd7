"""Where kernels differ: decided outcomes only, and with the change of the kernel if that is known."""

import pytest

from wblab.claims.atlas.atlaslines import columns_of, lines_of
from wblab.claims.atlas.differences import compared
from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.target import AtlasRow, Target


def of(name="linear", source="li", filesystem="ext4", **outcomes):
    """Return what is compared if a claim has these outcomes, by series (k7_2); empty ones are not made."""
    made = []
    for key, outcome in outcomes.items():
        series = key.removeprefix("k").replace("_", ".")
        rows = [AtlasRow(name, "", "it is so", outcome, "why", "")] if outcome else []
        made.append(MadeTarget(Target(series, filesystem, source), series, rows))
    return compared(lines_of(made, source, columns_of(made)))


@pytest.mark.parametrize(
    ("outcomes", "sort"),
    [
        (("reproduced", "not reproduced"), "differs"),
        (("harms", "not reproduced"), "differs"),
        (("reproduced", "not reproduced", "not decided"), "differs"),
        (("reproduced", "not decided"), "not decided"),
        (("not decided", "not testable"), "not decided"),
        (("reproduced", "not testable"), "not testable"),
    ],
)
def test_only_decided_outcomes_differ(outcomes, sort):
    (item,) = of(**dict(zip(("k7_2", "k6_12", "k6_1"), outcomes, strict=False)))
    assert item.sort == sort
    assert bool(item.since) == (sort == "differs")


@pytest.mark.parametrize("outcome", ["reproduced", "not decided", "not testable"])
def test_what_is_the_same_or_not_made_is_no_difference(outcome):
    assert of(k7_2=outcome, k6_1=outcome) == []
    assert of(k7_2=outcome, k6_1="") == []


def test_filesystems_are_not_compared_with_each_other():
    row = AtlasRow("linear", "", "it is so", "reproduced", "why", "")
    other = AtlasRow("linear", "", "it is so", "not reproduced", "why", "")
    made = [
        MadeTarget(Target("7.2", "ext4", "li"), "7.2", [row]),
        MadeTarget(Target("7.2", "xfs", "li"), "7.2", [other]),
    ]
    assert compared(lines_of(made, "li", columns_of(made))) == []


def test_a_known_change_is_named_where_it_was_found_and_agrees():
    yes, no = "reproduced", "not reproduced"
    (item,) = of("openat-ext4", "thesis", k7_2=no, k6_12=no, k6_1=yes)
    assert "before Linux 6.12" in item.since
    assert "29390bb5661d" in item.since
    (open_too,) = of("openat-ext4", "thesis", k7_2=no, k6_12="not decided", k6_1=yes)
    assert open_too.since == item.since
    for other in (
        of("openat-ext4", "thesis", k7_2=no, k6_12=yes, k6_1=yes),  # it is the other way round on 6.12
        of("openat-ext4", "thesis", "xfs", k7_2=no, k6_1=yes),  # a claim about ext4, on xfs
        of("openat-ext4", "trial", k7_2=no, k6_1=yes),
        of("fills-ext4", "thesis", k7_2=no, k6_1=yes),
    ):
        assert [one.since for one in other] == ["not explained"]


def test_claims_that_are_the_same_on_a_filesystem_are_one_difference():
    made = [
        MadeTarget(
            Target(series, filesystem, "thesis"), series, [AtlasRow(name, "", "", outcome, "", "") for name in names]
        )
        for series, outcome in (("7.2", "reproduced"), ("6.1", "not reproduced"))
        for filesystem in ("ext2", "ext4", "xfs")
        for names in [("openat-ext2", "openat-ext4")]
    ]
    found = [(item.line.name, item.filesystem) for item in compared(lines_of(made, "thesis", columns_of(made)))]
    assert found == [("openat-ext2", "ext2"), ("openat-ext4", "ext4"), ("openat-ext4", "xfs")]
