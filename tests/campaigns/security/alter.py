"""Alter model files and use them, each in a process of its own: which ones crash?

python alter.py STEP FOLDER MODEL.skops …  takes every STEP-th alteration.
"""

import collections
import os
import pathlib
import signal
import sys
import warnings

OUTCOMES = {10: "refused", 11: "answered", 12: "raised an error", 13: "ran out of memory"}


def main(step, folder, *paths):
    import resource

    from mercer.models import load_model
    from mercer.tables import match_columns
    from security.conftest import small_frame
    from security.forged import altered, forge, members

    def use(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model, card = load_model(path)
            except ValueError:
                return 10
            try:
                X = match_columns(small_frame(), card.columns).frame
                model.predict(X)
                model.predict_proba(X)
            except MemoryError:
                return 13
            except Exception:
                return 12
        return 11

    place = pathlib.Path(folder, "altered.skops")
    silent = os.open(os.devnull, os.O_WRONLY)
    bad = 0
    heads = ["model", "alterations", *OUTCOMES.values(), "crashed"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for path in paths:
        use(path)  # compile here, once
        counts = collections.Counter()
        for number, (what, contents) in enumerate(altered(members(path))):
            if number % int(step):
                continue
            forge(place, contents)
            child = os.fork()
            if not child:
                resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
                signal.alarm(100)
                os.dup2(silent, 1)
                os.dup2(silent, 2)
                os._exit(use(place))
            status = os.waitpid(child, 0)[1]
            if os.WIFSIGNALED(status):
                bad += 1
                print(f"{path}: {what}: signal {os.WTERMSIG(status)}")
            counts[OUTCOMES.get(os.waitstatus_to_exitcode(status), "crashed")] += 1
        numbers = [counts[name] for name in (*OUTCOMES.values(), "crashed")]
        line = [pathlib.Path(path).stem, sum(numbers), *numbers]
        print(f"| {' | '.join(map(str, line))} |", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(min(1, main(*sys.argv[1:])))
