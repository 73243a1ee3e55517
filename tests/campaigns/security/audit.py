"""``make audit``: every direct dependency, what it brings along, and what is known against it.

Three parts.  What is installed: version, licence, number of packages that it pulls in; dates of
release cannot be known offline.  Our lower bounds against advisories that were looked up by hand:
the list below.  And what pip-audit finds for the installed versions, where it is installed and the
network is there.

Exit code 1 where a lower bound allows a version with an advisory that concerns Mercer, or where
pip-audit found something.
"""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
LOOKED_UP = "2026-11-15"

# package, advisory, first version without it, whether Mercer is concerned and why.
ADVISORIES = (
    ("skops", "CVE-2025-54412", "0.12", True, "operators run under another name"),
    ("skops", "CVE-2025-54413", "0.12", True, "methods run under another name"),
    ("skops", "CVE-2025-54886", "0.13", True, "its cards fall back to joblib; not used here"),
    ("jinja2", "CVE-2024-22195", "3.1.3", True, "attributes by xmlattr; not used here"),
    ("jinja2", "CVE-2024-34064", "3.1.4", True, "attributes by xmlattr; not used here"),
    ("jinja2", "CVE-2024-56326", "3.1.5", True, "templates of others; ours are our own"),
    ("jinja2", "CVE-2025-27516", "3.1.6", True, "templates of others; ours are our own"),
    ("pyarrow", "CVE-2023-47248", "14.0.1", True, "parquet could run code"),
    ("pyarrow", "CVE-2026-25087", "23.0.1", False, "IPC files, which are never read"),
    ("distributed", "CVE-2026-23528", "2026.1.0", False, "dashboard behind Jupyter's proxy"),
    ("dask", "dask issue 12578", None, False, "from_npy_stack, which is never called"),
    ("scikit-learn", "CVE-2024-5206", "1.5.0", True, "words kept by a vectoriser; not used here"),
    ("torch", "CVE-2025-32434", "2.6.0", True, "torch.load, which is never called"),
    ("torch", "CVE-2026-24747", "2.10.0", False, "torch.load, which is never called"),
    ("openpyxl", "CVE-2017-5992", "2.4.2", True, "entities from outside"),
    ("numpy", "CVE-2021-34141", "1.22", True, "comparison of odd types"),
)


def main():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    bounds = direct_dependencies(project)
    print(f"Direct dependencies, {len(bounds)} in all (with extras):\n")
    print("| package | lower bound | installed | licence | pulls in |")
    print("|---|---|---|---|---|")
    for name, bound in sorted(bounds.items()):
        print(f"| {' | '.join(describe(name, bound))} |")
    print(f"\nAdvisories, looked up on {LOOKED_UP}:\n")
    print("| package | advisory | first without | our lower bound | concerns Mercer | what |")
    print("|---|---|---|---|---|---|")
    failed = False
    for name, advisory, fixed, concerns, what in ADVISORIES:
        bound = bounds.get(name, "")
        allows = fixed is None or not bound or as_numbers(bound) < as_numbers(fixed)
        failed |= allows and concerns
        said = "allows it" if allows else "excludes it"
        wanted = "yes" if concerns else "no"
        print(f"| {name} | {advisory} | {fixed} | {bound}: {said} | {wanted} | {what} |")
    print()
    failed |= ask_pip_audit()
    return 1 if failed else 0


def direct_dependencies(project):
    """Return the lower bound of every package that the project names itself."""
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for many in extras.values() for one in many)]
    bounds = {}
    for line in wanted:
        found = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?(?:>=([0-9.]+))?", line)
        if found[1] != "mercer":
            bounds[found[1].lower()] = found[2] or bounds.get(found[1].lower(), "")
    return bounds


def describe(name, bound):
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return name, bound, "not installed", "", ""
    return name, bound, found.version, licence(found), str(len(pulled_in(name)))


def licence(found):
    """Return the licence as the package states it, in a few words."""
    stated = found.metadata
    if expression := stated.get("License-Expression"):
        return expression
    kinds = [
        line.rpartition("::")[2].strip()
        for line in stated.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    text = (stated.get("License") or "").strip().splitlines()
    return ", ".join(kinds) or (text[0][:40] if text else "not stated")


def pulled_in(name, seen=None):
    """Return all packages that come with one, itself left out, as far as they are installed."""
    seen = set() if seen is None else seen
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return seen
    for line in lines:
        if "extra ==" in line:
            continue
        short = re.match(r"[A-Za-z0-9._-]+", line)[0].lower().replace("_", "-")
        if short not in seen and short != name and _is_installed(short):
            seen.add(short)
            pulled_in(short, seen)
    return seen


def _is_installed(name):
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def as_numbers(version):
    """Return a version as numbers that compare: 2.6 is 2.6.0."""
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    return tuple(numbers + [0] * (4 - len(numbers)))


def ask_pip_audit():
    """Ask pip-audit, which needs the network; True where it found something."""
    if importlib.util.find_spec("pip_audit") is None:
        print("pip-audit is not installed, so nothing was asked of the network.")
        return False
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        lines = done.stderr.strip().splitlines() or ["no answer"]
        print(f"pip-audit could not ask the network ({lines[-1][:200]}): nothing is known from it.")
        return False
    found = [(one, bad["id"]) for one in packages for bad in one.get("vulns", [])]
    for one, advisory in found:
        print(f"pip-audit: {one['name']} {one['version']}: {advisory}")
    print(f"pip-audit looked at {len(packages)} packages and found {len(found)} advisories.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
