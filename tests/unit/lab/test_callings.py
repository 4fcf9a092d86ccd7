"""What loads are called by a reader who knows none."""

from wblab.core.loads import KINDS
from wblab.lab.callings import CALLINGS, called, introduced


def test_each_calling_is_of_a_kind_of_load():
    assert CALLINGS.keys() <= KINDS.keys()


def test_a_load_has_its_own_name_beside_what_it_is_called():
    assert called("write", "w-fast") == "editor w-fast"
    assert called("load", "copy") == "copy"
    assert called("raw", "r1") == "r1"
    assert called("write", "web") == "web"
    assert called("commit", "db") == "database db"


def test_a_sentence_introduces_each_load_once():
    kinds = {"w1": "write", "mw1": "multiwrite", "l1": "load", "l10": "load", "disk": "load", "r1": "raw"}
    said = introduced(
        "mw1 and w1 were stalled: l1's dd filled the queue of the disk, 1 of l1, on /mnt/l10 by r1.", kinds
    )
    assert (
        said
        == "mail mw1 and editor w1 were stalled: copy l1's dd filled the queue of the disk, 1 of l1, on /mnt/l10 by r1."
    )


def test_a_row_of_loads_has_its_names_alone():
    kinds = {f"l{number}": "load" for number in range(1, 5)}
    assert introduced("four programs (l1 to l4) had 4 MiB, l4 1 MiB", kinds) == (
        "four programs (l1 to l4) had 4 MiB, copy l4 1 MiB"
    )
