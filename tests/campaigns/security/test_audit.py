"""Lower bounds exclude versions with advisories that concern Mercer."""

import pytest

from security import audit


def test_our_lower_bounds_exclude_what_is_known(capsys, monkeypatch):
    if not audit.PROJECT.is_file():
        pytest.skip("this is an installed package, without its project file")
    monkeypatch.setattr(audit.importlib.util, "find_spec", lambda name: None)
    assert audit.main() == 0
    said = capsys.readouterr().out
    assert "| skops | CVE-2025-54412 | 0.12 |" in said
    assert "pip-audit is not installed" in said


def test_a_bound_that_is_too_low_is_found(monkeypatch, capsys):
    monkeypatch.setattr(audit, "direct_dependencies", lambda project: {"skops": "0.11"})
    monkeypatch.setattr(audit, "ADVISORIES", audit.ADVISORIES[:1])
    monkeypatch.setattr(audit, "ask_pip_audit", lambda: False)
    assert audit.main() == 1
    assert "0.11: allows it" in capsys.readouterr().out


def test_versions_compare_as_numbers():
    assert audit.as_numbers("2.6") == audit.as_numbers("2.6.0") < audit.as_numbers("2.10")
