"""The reference of specs says what the classes say."""

from wblab.publish.site.specs import described, spec_page


def test_a_docstring_is_taken_apart():
    text = "A thing.\n\none, two: what\nboth are: `x`. three: a time.\n\nMore words,\non two lines."
    assert described(text, ["one", "two", "three"]) == (
        ["A thing.", "More words, on two lines."],
        {"one": "what both are: x.", "two": "what both are: x.", "three": "a time."},
    )


def test_the_page_has_units_defaults_and_meanings():
    text = spec_page().content.decode()
    assert "<td>write_bps</td><td>rate: 1MiB/s</td><td>0 B/s</td>" in text
    assert (
        '<td>depth</td><td>whole number</td><td>1</td><td class="prose">requests served at once, over one bus.</td>'
        in text
    )
    assert "<td>syscall_cost</td><td>time: 50ms, 25us</td><td>25 us</td>" in text
    assert 'id="multiwrite"' in text  # a kind of load
