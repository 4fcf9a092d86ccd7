import pytest

from wblab.core.copied import PAGE_BYTES, Course
from wblab.core.errors import InputError
from wblab.core.loads.base import NEVER
from wblab.core.spec import Spec
from wblab.core.tables import from_table

LOADS = {"w1": {"kind": "write", "file": "w", "idle": "50ms"}, "c1": {"kind": "control", "idle": "50ms", "until": "3s"}}
SPEC = from_table(Spec, {"name": "x", "memory": "64M", "disk": {"size": "8M", "write_bps": 1}, "load": LOADS})


def test_a_page_says_the_course_of_a_spec():
    course = Course.of(SPEC, 5 * 10**9, is_brief=True)
    page = course.page()
    assert len(page) == PAGE_BYTES
    assert page[0]
    assert Course.told(page, ("w1", "c1")) == course
    assert course.until_ns == {"w1": NEVER, "c1": 3 * 10**9}
    assert course.is_cut


def test_a_course_without_a_stop_has_a_limit_that_must_not_be_reached():
    assert not Course(10**9, NEVER, {"w1": NEVER}).is_cut


def test_a_page_has_room_for_many_loads():
    most = Course(1, 2, {f"w{number}": number + 10**12 for number in range(508)})
    assert Course.told(most.page(), tuple(most.until_ns)) == most
    with pytest.raises(InputError, match="509 loads: a copy of a guest has room for 508"):
        Course(1, 2, dict.fromkeys(map(str, range(509)), 0)).page()
