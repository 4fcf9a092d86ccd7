import pytest

from wblab.core.errors import InputError, WblabError, nearest


@pytest.mark.parametrize(
    ("word", "text"),
    [("memroy", " (did you mean 'memory'?)"), ("dsik", " (did you mean 'disk'?)"), ("xyz", ""), ("", "")],
)
def test_the_nearest_known_word_is_suggested(word, text):
    assert nearest(word, ["memory", "disk"]) == text


def test_exit_codes():
    assert (WblabError.exit_code, InputError.exit_code) == (1, 2)
    assert issubclass(InputError, WblabError)
