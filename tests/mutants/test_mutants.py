"""The table of mutants still fits the code that it breaks; `make mutants` runs it."""

import pytest

from mutants import table

MUTANTS = table.load_mutants()


def test_every_mistake_can_be_made():
    for mutant in MUTANTS:
        text = (table.ROOT / mutant.file).read_text(encoding="utf-8")
        compile(mutant.applied(text), mutant.file, "exec")  # a text that is there exactly once


def test_a_text_that_is_there_twice_is_refused():
    one = MUTANTS[0]
    with pytest.raises(ValueError, match="2 times"):
        one.applied(one.old * 2)


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
    broken = {mutant.file.split("/")[2] for mutant in MUTANTS}
    packages = {file.parent.name for file in (table.ROOT / "src/mercer").glob("*/__init__.py")}
    assert packages <= broken
