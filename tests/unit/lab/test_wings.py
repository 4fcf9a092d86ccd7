"""What wings offer by name is there."""

import pytest

from wblab.core.errors import InputError
from wblab.lab import wings


@pytest.mark.parametrize("what", wings.OFFERS)
def test_what_a_wing_offers_is_there(what):
    assert wings.needed(what) is not None
    assert wings.OFFERS[what][0].split(".")[1] in wings.WINGS


def test_a_wing_that_is_not_here_offers_nothing(monkeypatch):
    monkeypatch.setitem(wings.OFFERS, "opening packed files", ("wblab.published.bundle", "open_packed"))
    monkeypatch.setitem(wings.WINGS, "published", "packed files")
    assert wings.offered("opening packed files") is None
    with pytest.raises(InputError, match=r"without wblab/published \(packed files\)"):
        wings.needed("opening packed files")
