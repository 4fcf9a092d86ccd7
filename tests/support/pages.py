"""A page as a browser would take it: its tags, and what they would load."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects the tags of a page, and what they would load."""

    def __init__(self):
        super().__init__()
        self.tags, self.loads = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in {"src", "href", "xlink:href"} and value[0] != "#"]
