"""Tables for people: nothing from the data is read as markup, nothing is lost."""

import io
from html.parser import HTMLParser

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mercer.comparison import compare, compare_over_datasets

NASTY = "<script>alert(1)</script>[bold]&amp;"


class Tables(HTMLParser):
    """Collects tags and cell texts."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    tables = Tables()
    tables.feed(html)
    return tables


class Broken(GaussianNB):
    def fit(self, X, y):
        raise ValueError(NASTY)


def comparison():
    X, y = load_iris(return_X_y=True)
    models = {NASTY: GaussianNB(), "dummy": DummyClassifier(), "broken": Broken()}
    return compare(models, X, y, cv=3, random_state=0)


def test_html_escapes_names_and_errors():
    html = comparison()._repr_html_()
    tables = read(html)
    assert tables.tags == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert NASTY in tables.texts
    assert f"split 0: ValueError: {NASTY}" in tables.texts
    assert f"{NASTY} is better" in tables.texts


def test_html_escapes_the_name_of_the_score():
    def score(estimator, X, y):
        return float(len(X))

    score.__name__ = NASTY
    X, y = load_iris(return_X_y=True)
    result = compare([GaussianNB(), DummyClassifier()], X, y, cv=2, scoring=score, random_state=0)
    tables = read(result._repr_html_())
    assert "script" not in tables.tags
    assert f"{NASTY} on 2 splits" in tables.texts
    assert f"{NASTY} on 2 splits" in str(result)


def test_html_escapes_estimator_names_over_data_sets():
    scores = pd.DataFrame(np.random.default_rng(0).uniform(size=(8, 3)), columns=["a", NASTY, "c"])
    tables = read(compare_over_datasets(scores, random_state=0)._repr_html_())
    assert "script" not in tables.tags
    assert NASTY in tables.texts


def test_rich_and_print_show_names_as_they_are():
    result = comparison()
    console = Console(width=200, file=io.StringIO())
    console.print(result)
    for text in (console.file.getvalue(), str(result)):
        assert "accuracy on 3 splits" in text
        assert "[bold]" in text
        assert "corrected_t" in text
        assert "< 0.001" in text


def test_eighty_columns_lose_nothing():
    X, y = load_iris(return_X_y=True)
    name = "an_estimator_with_a_name_of_forty_letters"
    models = {name: GaussianNB(), "dummy": DummyClassifier(), "broken": Broken()}
    lines = str(compare(models, X, y, cv=3, random_state=0)).splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    last = lines[-4:]  # name and verdict are folded, numbers are whole
    assert name in "".join(line[:18].strip() for line in last)
    assert f"{name}isbetter" in "".join(line[61:] for line in last).replace(" ", "")
    assert last[0].split()[2:6] == ["0.64", "0.561", "0.719", "<"]


def test_numbers_stay_whole_where_names_do_not():
    console = Console(width=48, file=io.StringIO())
    X, y = load_iris(return_X_y=True)
    models = {"a" * 40: GaussianNB(), "b" * 40: DummyClassifier()}
    console.print(compare(models, X, y, cv=3, random_state=0))
    for number in ("0.64", "0.561", "0.719", "< 0.001"):
        assert f" {number} " in console.file.getvalue()


def test_repr_is_one_line():
    assert repr(comparison()) == (
        "<Comparison of 3 estimators on 3 splits: print it, or see .summary and .pairs>"
    )


def test_gaps_are_dashes():
    assert "–" in read(comparison()._repr_html_()).texts
