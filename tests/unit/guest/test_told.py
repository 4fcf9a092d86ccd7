import pytest

from wblab.core.copied import PAGE_BYTES, Course
from wblab.core.loads.base import NEVER
from wblab.guest.told import Told

SAID = Course(60 * 10**9, NEVER, {"l1": NEVER, "w1": NEVER})
CHANGED = Course(9 * 10**9, 2 * 10**9, {"l1": 10**9, "w1": NEVER}, is_brief=True)


@pytest.fixture
def page(tmp_path):
    made = tmp_path / "page"
    made.write_bytes(bytes(PAGE_BYTES))
    return made


def test_a_guest_does_what_was_said_until_its_page_says_otherwise(page):
    told = Told(SAID, str(page))
    deadline = told.deadline(10**12)
    assert told.course() == SAID
    assert (deadline.time_ns(), deadline.is_cut()) == (10**12 + SAID.time_limit_ns, False)
    with page.open("r+b") as file:
        file.write(CHANGED.page())
    assert told.course() == CHANGED
    assert (deadline.time_ns(), deadline.is_cut()) == (10**12 + CHANGED.time_limit_ns, True)


def test_a_kernel_that_makes_no_copies_has_no_page(tmp_path):
    assert Told(SAID, str(tmp_path / "none")).course() == SAID
