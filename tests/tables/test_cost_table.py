"""A table of what mistakes cost: found by name, and its mistakes named."""

import pandas as pd
import pytest

from mercer.tables import cost_table, read_table

CLASSES = ["benign", "malignant"]
TEXT = "truth,malignant,benign\nmalignant,0,20\nbenign,1,0\n"


def read(tmp_path, text):
    path = tmp_path / "costs.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path)


def test_the_true_class_is_in_rows_and_the_answer_in_columns(tmp_path):
    assert cost_table(read(tmp_path, TEXT), CLASSES).tolist() == [[0.0, 1.0], [20.0, 0.0]]


def test_classes_may_be_numbers(tmp_path):
    text = "truth;0;1\n1;2.5;0\n0;0;1\n"
    assert cost_table(read(tmp_path, text), ["0", "1"]).tolist() == [[0.0, 1.0], [2.5, 0.0]]


def test_a_frame_will_do():
    frame = pd.DataFrame({"truth": CLASSES, "benign": ["0", "20"], "malignant": [1, 0]})
    assert cost_table(frame, CLASSES).tolist() == [[0.0, 1.0], [20.0, 0.0]]


WRONG = {
    "one column": ("truth\nbenign\nmalignant\n", "no table of costs"),
    "no row": ("truth,benign,malignant\nbenign,0,1\n", "no row for class 'malignant'"),
    "no column": ("truth,benign\nbenign,0\nmalignant,1\n", "no column for class 'malignant'"),
    "twice": (TEXT + "benign,2,0\n", "more than one row for class 'benign'"),
    "strange row": (TEXT + "benig,2,0\n", "did you mean 'benign'"),
    "strange column": (TEXT.replace("\n", ",5\n").replace("benign,5", "benign,maybe", 1),
                       "a column for 'maybe'"),
    "empty": (TEXT.replace("20", ""), "answering 'benign' where 'malignant' is true is empty"),
    "text": (TEXT.replace("20", "much"), "is 'much', which is not a finite number"),
    "infinite": (TEXT.replace("20", "inf"), "which is not a finite number"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_named(tmp_path, case):
    text, sentence = WRONG[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        cost_table(read(tmp_path, text), CLASSES)
    assert "costs.csv" in str(caught.value)
    assert str(caught.value).endswith((".", "?"))
