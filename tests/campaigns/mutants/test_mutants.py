"""The table of mutants still fits the code that it breaks; `make mutants` runs it."""

import pytest

from mutants import places, table

MUTANTS = table.load_mutants()


def test_every_mistake_can_be_made():
    for mutant in MUTANTS:
        text = (table.ROOT / mutant.file).read_text(encoding="utf-8")
        compile(mutant.applied(text), mutant.file, "exec")


TEXT = """
LEAST = 2

def total(a, b):
    return sign(  # of both
        a,
        b,
    ) + a * b

class Sum:
    def total(self, a, b):
        return a * b + b
"""


def test_fragments_are_compared_by_tokens_and_nothing_else_changes():
    changed = places.replace(TEXT, "total", "sign(a, b) + a", "sign(b, a) + a")
    assert changed == TEXT.replace("sign(  # of both\n        a,\n        b,\n    )", "sign(b, a)")
    changed = places.replace(TEXT, "Sum.total", "a*b", "a - b")
    assert changed == TEXT.replace("a * b + b", "a - b + b")
    assert places.replace(TEXT, "LEAST", "2", "3") == TEXT.replace("2", "3")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("total", "b", "a", "'b' 3 times"),
        ("total", "a + b", "b", "'a \\+ b' 0 times"),
        ("Sum.total", "a * b + b", "(a * b) + b", "the same"),
        ("mean", "a", "b", "defined 0 times"),
    ],
)
def test_fragments_that_are_not_there_once_or_change_nothing_are_refused(name, old, new, message):
    with pytest.raises(ValueError, match=message):
        places.replace(TEXT, name, old, new)


def test_a_function_that_exists_twice_is_refused():
    one = MUTANTS[0]
    text = (table.ROOT / one.file).read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=f"{one.name}: .* is defined 2 times"):
        one.applied(text * 2)


@pytest.fixture
def sources(tmp_path):
    """Packages of which one defines a name in two files."""
    for name, text in {
        "_top.py": "def total(): ...",
        "_private/_below.py": "def mean(): ...",
        "sums/_one.py": TEXT,
        "sums/far/_two.py": "def total(): ...\ndef mean(): ...",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_names_are_found_wherever_a_package_has_them(sources):
    assert places.find_file("sums.Sum.total", sources=sources) == sources / "sums/_one.py"
    assert places.find_file("sums.mean", sources=sources) == sources / "sums/far/_two.py"
    assert places.find_file("sums.total", "mean", sources) == sources / "sums/far/_two.py"
    assert places.find_file("mercer.total", sources=sources) == sources / "_top.py"
    assert places.find_file("mercer.mean", sources=sources) == sources / "_private/_below.py"


def test_a_name_of_two_files_or_of_none_is_refused_with_the_files(sources):
    with pytest.raises(ValueError, match=r"sums/_one\.py, sums/far/_two\.py"):
        places.find_file("sums.total", sources=sources)
    with pytest.raises(ValueError, match="no file"):
        places.find_file("sums.median", sources=sources)


def test_overloads_are_no_definitions():
    text = "@overload\ndef f(a: int): ...\n@typing.overload\ndef f(a: str): ...\ndef f(a): ...\n"
    assert places.definitions(text, "f") == [range(5, 6)]


def test_the_tests_that_judge_are_there():
    for file in table.FOLDER.glob("*.toml"):
        content = table.read(file)
        folder = table.ROOT / content["folder"]
        for name in [*content.get("without", {}), *(one["first"] for one in content["mutant"])]:
            assert (folder / name).is_file(), f"{file.name}: {name}"
        assert not {one["first"] for one in content["mutant"]} & set(content.get("without", {}))


def test_names_are_different_and_every_package_has_mutants():
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)
    broken = {mutant.function.partition(".")[0] for mutant in MUTANTS}
    packages = {file.parent.name for file in (table.ROOT / "src/mercer").glob("[!_]*/__init__.py")}
    assert packages <= broken  # what is private is the system's, and no maths
