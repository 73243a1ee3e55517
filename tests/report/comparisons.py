"""Results folders as ``mercer compare`` writes them, with everything that a page may meet."""

import json

import numpy as np
import pandas as pd

NASTY = "<script>alert(1)</script>"
RANKED = ("fisher", "svc", "logistic", "dummy")  # best first
METRICS = ("accuracy", "balanced", "f1", "auc", "average-precision", "log-loss")


def make_content(classes=("a", "b", NASTY), rounds=6, **changes):
    """The content of comparison.json."""
    content = {
        "kind": "comparison",
        "question": {
            "table": f"{NASTY}.csv",
            "is_bundled": False,
            "target": "ki & nd",
            "rows": 1234,
            "columns": [
                _column("width", "number", n_missing=123),
                _column(NASTY, "category", examples=("x", NASTY)),
                _column(
                    "id", "identifier", used=False, reason="every row has its own", n_missing=999
                ),
            ],
            "classes": [{"name": name, "rows": 100 + k} for k, name in enumerate(classes)],
            "notes": [f"A note on {NASTY}."],
        },
        "metric": "accuracy",
        "metric_reason": "Scored by accuracy, the share of rows whose class is found.",
        "lower_is_better": False,
        "positive_class": classes[-1] if len(classes) == 2 else None,
        "confidence_level": 0.95,
        "budget_seconds": 120.0,
        "seconds": 93.4,
        "interrupted": False,
        "rounds": rounds,
        "too_few_rounds": rounds < 5,
        "longer_command": "mercer compare 'a & b.csv' --budget 9m" if rounds < 5 else None,
        "splits": {"kind": "folds", "folds": 10, "train_rows": 1110.6, "test_rows": 123.4},
        "models": [
            _model("fisher", "mercer", 0.91, "best", None),
            _model("svc", "peer", 0.90, "not told apart", 0.37),
            _model("logistic", "peer", 0.80, "worse", 0.0123),
            _model("dummy", "floor", 0.31, "worse", 0.00001),
            _model("knn", "peer", None, None, None, note="left out: one fit takes 9 s"),
            _model("forest", "peer", None, None, None, error=f"ValueError: {NASTY}\ntraceback"),
        ],
        "pairs": [
            _pair("fisher", "svc", 0.01, 0.37),
            _pair("logistic", "fisher", -0.11, 0.0123),
            _pair("svc", "logistic", 0.10, 0.02),
            *(_pair(name, "dummy", 0.5, 0.00001) for name in RANKED[:3]),
        ],
        "answer": f"fisher and svc are not told apart (p = 0.37), says {NASTY}.",
        "leader": "fisher",
        "leaders": ["fisher", "svc"],
        "hard_rows": {
            "count": 2,
            "tested": 740,
            "rows": [
                {"row": int(row), "truth": classes[0], "predicted": classes[-1], "rounds": 2,
                 "wrong": 6}
                for row in (7, 11)
            ],
        },
        "map": {"method": "fisher", "notes": ["30 of 40 rows were used."]},
        "fit_command": "mercer fit 'a & b.csv' --target 'ki & nd' --model fisher -o fisher.skops",
        "python": "from mercer.models import make_model\n\nmodel = make_model('fisher', data)",
        "versions": {"mercer": "0.1", "python": "3.11"},
        "machine": {"system": "Linux", "processor": "x86_64", "cores": 2},
        "seed": 7,
    }  # fmt: skip
    return {**content, **changes}


def _column(name, kind, *, used=True, reason="", n_missing=0, examples=("1", "2")):
    return {"name": name, "kind": kind, "used": used, "reason": reason, "n_missing": n_missing,
            "n_unique": 17, "examples": list(examples), "style": "", "categories": []}  # fmt: skip


def _model(name, kind, score, standing, p, *, note="", error=""):
    known = score is not None
    return {
        "name": name, "label": f"the {name}", "kind": kind, "score": score,
        "low": score - 0.04 if known else None, "high": score + 0.04 if known else None,
        "difference": 0.91 - score if known else None, "pvalue": p, "against_best": standing,
        "fit_seconds": 0.25 if known else None, "predict_seconds": 1.5 if known else None,
        "bytes": 12_345_678 if known else None, "n_rows_fitted": 1111,
        "warning": "", "note": note, "error": error,
    }  # fmt: skip


def _pair(a, b, gap, p):
    verdict = "could be chance" if p > 0.05 else f"{a if gap > 0 else b} is better"
    return {"a": a, "b": b, "difference": gap, "low": gap - 0.05, "high": gap + 0.02,
            "pvalue": p / 3, "corrected": p, "verdict": verdict}  # fmt: skip


def make_curves(classes, leaders=("fisher", "svc"), *, probabilities=("fisher",), outputs=True):
    """The content of curves.json: every model has one confusion matrix, of 10 × identity + 1."""
    n = len(classes)
    matrix = (10 * np.eye(n, dtype=int) + 1).tolist()
    shown = [classes[-1]] if n == 2 else list(classes)[:12]
    lines = [
        {"class": name, "average_precision": round(0.99 - 0.01 * k, 4), "share": 1 / n,
         "recall": [1.0, 0.8, 0.5, 0.0], "precision": [1 / n, 0.7, 0.9, 1.0]}
        for k, name in enumerate(shown)
    ]  # fmt: skip
    calibration = {"class": shown[0] if n == 2 else None, "predicted": [0.1, 0.5, 0.9],
                   "observed": [0.2, 0.5, 0.6], "n": [10, 10, 20]}  # fmt: skip
    return {
        "classes": list(classes),
        "confusion": dict.fromkeys(RANKED, matrix),
        "leaders": {
            name: {
                "precision_recall": lines if outputs else [],
                "calibration": calibration if name in probabilities else None,
            }
            for name in leaders
        },
    }


def make_scores(content):
    """The content of scores.csv; knn has a split that does not count."""
    rng = np.random.default_rng(1)
    lines = []
    for model in content["models"]:
        if model["score"] is None:
            continue
        gaps = rng.normal(0, 0.01, content["rounds"])
        for split, gap in enumerate(gaps - gaps.mean()):
            values = [model["score"] + gap] * 6
            if model["name"] == "svc":
                values[-1] = np.nan
            lines.append((model["name"], split, values[0], *values))
    lines.append(("fisher", content["rounds"], 0.0, *[0.0] * 6))  # nobody else got so far
    lines.append(("knn", 0, 0.5, *[0.5] * 6))
    return pd.DataFrame(lines, columns=["model", "split", "score", *METRICS])


def make_points(classes, n=40):
    """The content of map.csv."""
    rng = np.random.default_rng(2)
    kinds = np.arange(n) % len(classes)
    return pd.DataFrame(
        {
            "row": np.arange(1, n + 1),
            "x": rng.normal(size=n) + 5 * (kinds % 3),
            "y": rng.normal(size=n) + 5 * (kinds // 3),
            "class": np.array(classes, dtype=object)[kinds],
            "held_out": np.arange(n) % 4 == 0,
        }
    )


def write_folder(folder, content=None, curves=None, scores=None, points=None):
    """Write a results folder; what is not given is the example's own."""
    content = make_content() if content is None else content
    classes = [one["name"] for one in content["question"]["classes"]]
    curves = make_curves(classes) if curves is None else curves
    folder.mkdir(exist_ok=True)
    for name, part in (("comparison.json", content), ("curves.json", curves)):
        (folder / name).write_text(json.dumps(part, allow_nan=False), encoding="utf-8")
    (make_scores(content) if scores is None else scores).to_csv(folder / "scores.csv", index=False)
    (make_points(classes) if points is None else points).to_csv(folder / "map.csv", index=False)
    return folder
