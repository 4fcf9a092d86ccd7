"""All works together: which claims belong to which."""

import pytest

from wblab.claims.sources.registry import WORKS, work_of
from wblab.core.errors import InputError


def test_names_of_claims_are_unique():
    names = [name for work in WORKS.values() for name in work.names]
    assert len(names) == len(set(names))


def test_the_work_is_that_of_the_claims():
    first, second = WORKS["thesis"].names[0], WORKS["li"].names[0]
    assert work_of([], "thesis") == "thesis"
    assert work_of([second], "thesis") == "li"
    assert work_of(["no-such-claim"], "thesis") == "thesis"
    with pytest.raises(InputError, match=f"claims of 2 works.*: wblab study {second}; wblab study {first}"):
        work_of([second, first], "thesis")
