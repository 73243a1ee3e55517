"""The foot of the page: how a run was made, and how to make it again."""

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mercer._system.words import count_of, duration, is_known, listed


def run_facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what the foot of the page says about the run: names and texts."""
    jobs = run.get("jobs", {})
    machine = run.get("machine", {})
    by_outcome = ", ".join(
        f"{jobs[name]} {name}" for name in ("done", "failed", "skipped") if jobs.get(name)
    )
    facts = [
        ("Mode", "quick: few replications, short grids" if _is_quick(run) else "full"),
        ("Protocol", str(run.get("protocol", ""))),
        ("Started", _moment(run.get("started"))),
        ("Finished", _moment(run.get("finished"))),
        ("Time of all jobs", duration(run["seconds"]) if is_known(run.get("seconds")) else ""),
        ("Processes", str(run.get("workers", ""))),
        ("Jobs", f"{by_outcome} of {jobs['of']}" if "of" in jobs else by_outcome),
        ("Done by earlier runs", _of_earlier_runs(run)),
        ("Studies of an earlier run", listed(list(map(str, run.get("kept") or [])))),
        ("System", str(machine.get("system", ""))),
        ("Processor", str(machine.get("processor", ""))),
        ("Cores", str(machine.get("cores", ""))),
        ("Memory", f"{machine['memory_gb']:g} GB" if machine.get("memory_gb") else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _of_earlier_runs(run: Mapping[str, Any]) -> str:
    """Say how many jobs were there when the run began, and since when; nothing where none was."""
    earlier = run.get("earlier") or {}
    if not earlier.get("jobs"):
        return ""
    since = _moment(earlier.get("since"))
    return count_of(earlier["jobs"], "job") + (f", the first at {since}" if since else "")


def _is_quick(run: Mapping[str, Any]) -> bool:
    return bool(run.get("mode") == "quick")


def _moment(text: object) -> str:
    """Write an ISO time as date, hour and minute; nothing where it is not one."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return ""
    return f"{moment:%Y-%m-%d %H:%M} {moment.tzname() or ''}".strip()


def repeat_command(run: Mapping[str, Any]) -> str:
    """Return the command that repeats the run."""
    parts = ["mercer", "reproduce", *map(shlex.quote, run.get("studies", []))]
    if _is_quick(run):
        parts.append("--quick")
    if run.get("protocol", "both") != "both":
        parts += ["--protocol", str(run["protocol"])]
    return " ".join(parts)
