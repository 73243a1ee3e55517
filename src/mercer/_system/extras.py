"""How to get the packages that only some functions need, said in one place."""


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra of pyproject.toml, and where it works.

    >>> from mercer._system.extras import how_to_install
    >>> print(how_to_install("plot"))
    pip install ".[plot]" in a clone of Mercer
    """
    return f'pip install ".[{extra}]" in a clone of Mercer'
