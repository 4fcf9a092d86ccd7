import pytest
from support.runs import MS, S, write_run
from support.ticktraces import named, trace

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.core.rundir import TRACE

C1 = [S, S + 50 * MS, S + 100 * MS]


@pytest.fixture
def digested(tmp_path):
    """Return a function that gives the digest of a run with these boundaries and this trace."""

    def digested(boundaries, content=None, name="run"):
        path = write_run(tmp_path / name, boundaries)
        if content is not None:
            (path / TRACE).write_bytes(content)
        return digest(read_run(path))

    return digested


def test_the_digest_does_not_depend_on_the_path_or_the_pages(digested):
    events = [(300, 1, 5), (301, 2, 6), (300, 3, 7), (301, 4, 8)]
    first = digested({"c1": C1}, trace(*events))
    assert digested({"c1": C1}, trace(*events, pages=2), name="another") == first


@pytest.mark.parametrize(
    "events",
    [
        [(300, 1, 5)],
        [(300, 1, 5), (301, 2, 7)],
        [(300, 1, 5), (301, 3, 6)],
        [(300, 1, 5), (300, 2, 6)],
        [(300, 1, 5), (301, 2, 6), (301, 3, 6)],
    ],
)
def test_an_event_s_time_and_values_change_the_digest(digested, events):
    assert digested({"c1": C1}, trace(*events)) != digested({"c1": C1}, trace((300, 1, 5), (301, 2, 6)), "other")


def test_an_inode_number_changes_the_digest(digested):
    """Inode numbers are the guest's own, also on hostfs, so all of them count."""
    first, again, other = (
        digested({"c1": C1}, named("text", ino=ino), name) for name, ino in zip("abc", (7, 7, 8), strict=True)
    )
    assert first == again != other


def test_a_boundary_or_a_load_changes_the_digest(digested):
    boundaries = [{"c1": C1}, {"c1": C1[:2]}, {"w1": C1}, {"c1": C1, "w1": C1}, {"c1": [S, S + 51 * MS, S + 100 * MS]}]
    digests = {digested(each, name=f"run{number}") for number, each in enumerate(boundaries)}
    assert len(digests) == len(boundaries)


def test_without_a_trace_the_digest_is_of_the_loads(digested):
    assert digested({"c1": C1}) != digested({"c1": C1}, trace((300, 1, 5)), "other")


def test_a_damaged_trace_is_an_input_error(digested):
    with pytest.raises(InputError):
        digested({"c1": C1}, trace((300, 1, 5))[:-100])
