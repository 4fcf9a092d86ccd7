"""Pages with regions: the repository has the short form that the data make, and the whole form can be made of them."""

from wblab.claims.pages.forms import SHORT, WHOLE
from wblab.cli import VERBS, build_parser
from wblab.commands.reference import verbs
from wblab.lab.places import DOCS
from wblab.report.regions import filled, regions

FORMS = {**WHOLE, "commands": lambda: verbs(build_parser())}
ALIKE = {"works"}  # a few rows, which are whole in both forms
PAGES = {path: text for path in DOCS.glob("*/*.md") if regions(text := path.read_text())}


def test_every_region_of_the_docs_is_short_there_and_can_be_made_whole():
    assert {name for text in PAGES.values() for name in regions(text)} == FORMS.keys()
    for path, text in PAGES.items():
        assert filled(text, SHORT, marked=True) == text, f"{path}: python docs/results.py"
        whole = filled(text, FORMS)
        assert len(whole) > len(filled(text, {})) or {*regions(text)} <= ALIKE
        assert "<!--" not in whole


def test_the_short_page_of_commands_has_all_verbs():
    (text,) = (text for text in PAGES.values() if regions(text) == ["commands"])
    listed = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    known = [(verb.name, *(f"{verb.name} --{form.name}" for form in verb.forms)) for verb in VERBS]
    assert listed == [name for names in known for name in names]


def test_a_region_without_a_form_stays_as_it_is():
    text = "a\n<!-- short: claims -->\nb\n<!-- end of claims -->\nc\n"
    assert filled(text, {}) == "a\nb\nc\n"
    assert filled(text, {"claims": lambda: "d\n"}) == "a\n\nd\n\nc\n"
    assert regions(text) == ["claims"]
