"""A page of HTML, read as a browser would, with what tests ask for."""

import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """Checks that elements nest, and gathers what tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.fetched, self.text = [], [], [], [], []
        self.tags = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        self.fetched += [values[k] for k in ("src", "srcset") if k in values]
        if tag in ("link", "image", "use"):
            self.fetched.append(values["href"])
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" not in self.open and "style" not in self.open:
            self.text.append(data)

    @property
    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))
