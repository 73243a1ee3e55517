"""``--device``: models that compute with tensors, here of torch's CPU, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import mercer.comparison
from mercer.cli import _compare, _fit, _predict, main
from mercer.comparison import compare_in_rounds
from mercer.models import OnDevice, load_model, read_card


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    frame = pd.DataFrame(rng.normal(size=(90, 3)) + 2 * y[:, None], columns=list("abc"))
    frame["kind"] = np.array(["fig", "kiwi", "lime"])[y]
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def on_tensors(torch, monkeypatch):
    """Take torch's CPU for the GPU, and remember what runs there."""
    for command in (_fit, _predict, _compare):
        monkeypatch.setattr(command, "resolve_device", {"cpu": None, "cuda": "cpu"}.get)
    ran, fit, answer = [], OnDevice.fit, OnDevice._answer

    def remembered(self, X, y, sample_weight=None):
        ran.append(type(self.estimator).__name__)
        return fit(self, X, y, sample_weight)

    def answered(self, method, X, **options):
        ran.append(method)
        return answer(self, method, X, **options)

    monkeypatch.setattr(OnDevice, "fit", remembered)
    monkeypatch.setattr(OnDevice, "_answer", answered)
    return ran


def test_fit_and_predict(table, on_tensors, capsys):
    model = table.with_name("m.skops")
    arguments = ["fit", str(table), "-t", "kind", "-m", "fisher", "-o", str(model)]
    assert main([*arguments, "--device", "cuda"]) == 0
    assert on_tensors.count("KernelFisherDiscriminant") == 4  # three folds, all rows
    assert not any("OnDevice" in name for name in read_card(model).types)
    pipeline, _ = load_model(model)
    assert isinstance(pipeline[-1].dual_coef_, np.ndarray)
    del on_tensors[:]
    capsys.readouterr()
    assert main(["predict", str(model), str(table)]) == 0
    here = capsys.readouterr().out
    assert on_tensors == []
    assert main(["predict", str(model), str(table), "--device", "cuda"]) == 0
    there = capsys.readouterr().out
    assert on_tensors == ["predict", "predict_proba"]
    assert [line.split(",")[0] for line in here.split()] == [
        line.split(",")[0] for line in there.split()
    ]


def test_others_run_on_the_cpu_and_say_so(table, on_tensors, capsys):
    model = table.with_name("m.skops")
    arguments = ["fit", str(table), "-t", "kind", "-m", "logistic", "-o", str(model)]
    assert main([*arguments, "--device", "cuda", "--json"]) == 0
    assert on_tensors == []
    note = "logistic runs on the CPU: only fisher, laplacian, parzen and ise use "
    assert any(text.startswith(note) for text in json.loads(capsys.readouterr().out)["notes"])
    assert main(["predict", str(model), str(table), "--device", "cuda"]) == 0
    assert f"note: {note}" in capsys.readouterr().err


def test_compare(table, on_tensors, no_last_parts, monkeypatch, capsys):
    def two_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 2})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", two_rounds)
    folder = table.with_name("out")
    models = ["--models", "parzen,logistic,dummy"]
    command = ["compare", str(table), "-t", "kind", *models, "-o", str(folder), "--device", "cuda"]
    assert main(command) == 0
    captured = capsys.readouterr()
    note = "note: dummy and logistic run on the CPU: only fisher, laplacian, parzen and ise use "
    assert note in captured.err
    assert on_tensors.count("ParzenClassifier") > 2
    content = json.loads((folder / "comparison.json").read_text())
    assert {line["name"] for line in content["models"]} == {"parzen", "logistic", "dummy"}
    assert all(np.isfinite(line["score"]) for line in content["models"])
    placed = "--device" in content["fit_command"]
    assert placed == (content["leader"] == "parzen")


@pytest.mark.parametrize("command", ["fit", "compare", "predict"])
@pytest.mark.parametrize(
    ("device", "sentence"),
    [("cuda", "torch finds no CUDA device"), ("tpu", "is cpu, cuda or cuda:1, not 'tpu'")],
)
def test_a_device_that_is_not_there(torch, monkeypatch, table, capsys, command, device, sentence):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    target = [] if command == "predict" else ["-t", "kind"]
    files = ["m.skops", str(table)] if command == "predict" else [str(table)]
    assert main([command, *files, *target, "--device", device]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("mercer: ")
    assert captured.err.count("\n") == 1
    assert sentence in captured.err


def test_no_room_is_no_fault_of_ours(torch, table, on_tensors, monkeypatch, capsys):
    def no_room(self, X, y, sample_weight=None):
        raise MemoryError("The device does not have enough memory for a fit on 90 rows.")

    monkeypatch.setattr(OnDevice, "fit", no_room)
    arguments = ["-t", "kind", "-m", "fisher", "-o", str(table.with_name("m.skops"))]
    assert main(["fit", str(table), *arguments, "--device", "cuda"]) == 2
    assert "mercer: The device does not have enough memory" in capsys.readouterr().err
