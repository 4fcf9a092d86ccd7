"""What loads are called by a reader who knows none."""

from wblab.core.loads import KINDS
from wblab.lab.callings import CALLINGS, called


def test_each_calling_is_of_a_kind_of_load():
    assert CALLINGS.keys() <= KINDS.keys()


def test_a_load_has_its_own_name_beside_what_it_is_called():
    assert called("write", "w-fast") == "editor w-fast"
    assert called("load", "copy") == "copy"
    assert called("raw", "r1") == "r1"
