"""LeaveOneOutPathDisplay: the table of results as lines, the choice marked where it was made."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.plots import LeaveOneOutPathDisplay

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]


@pytest.mark.parametrize("classifier", [LaplacianClassifier, ParzenClassifier, ISEClassifier])
def test_lines_are_the_results(classifier, plt):
    model = classifier().fit(X, Y)
    display = LeaveOneOutPathDisplay.from_estimator(model)
    assert {score for _, score in display.lines_} == {"accuracy", "balanced_accuracy"}
    for (_, score), line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), model.loo_results_["bandwidth"])
        np.testing.assert_array_equal(line.get_ydata(), model.loo_results_[score])
    assert display.ax_.get_xscale() == "log"
    assert display.silverman_.get_xdata()[0] == pytest.approx(silverman_bandwidth(X))


def test_one_line_for_each_rule_and_the_chosen_point_on_its_own(plt):
    model = LaplacianClassifier(rule="auto", scoring="balanced_accuracy").fit(X[15:], Y[15:])
    assert not np.allclose(*(model.loo_results_[s] for s in ("accuracy", "balanced_accuracy")))
    display = LeaveOneOutPathDisplay.from_estimator(model)
    assert {rule for rule, _ in display.lines_} == {"cosine", "append"}
    line = display.lines_[model.rule_, "balanced_accuracy"]
    at = list(line.get_xdata()).index(model.bandwidth_)
    assert display.chosen_.get_xdata()[0] == model.bandwidth_
    assert display.chosen_.get_ydata()[0] == line.get_ydata()[at]
    other = display.lines_["append" if model.rule_ == "cosine" else "cosine", "accuracy"]
    assert line.get_color() != other.get_color()
    assert line.get_linestyle() != display.lines_[model.rule_, "accuracy"].get_linestyle()


def test_losses_and_a_single_score(plt):
    model = make_pipeline(StandardScaler(), ParzenClassifier()).fit(X, Y)
    display = LeaveOneOutPathDisplay.from_estimator(model, scores="log_loss")
    assert list(display.lines_) == [(None, "log_loss")]
    assert display.ax_.get_ylabel() == "leave-one-out loss"
    results = model[-1].loo_results_
    chosen = results["log_loss"][results["bandwidth"] == model[-1].bandwidth_]
    assert display.chosen_.get_ydata()[0] == chosen[0]


def test_a_fixed_bandwidth_has_no_silverman(plt):
    model = LaplacianClassifier(rule="auto", bandwidth=0.4).fit(X, Y)
    assert LeaveOneOutPathDisplay.from_estimator(model).silverman_ is None


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="fit it with bandwidth='loo'"):
        LeaveOneOutPathDisplay.from_estimator(ParzenClassifier(bandwidth=1.0).fit(X, Y))
    model = ParzenClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"scores must be among 'accuracy'.*got 'auc'"):
        LeaveOneOutPathDisplay.from_estimator(model, scores=["auc"])
    with pytest.raises(ValueError, match="all accuracies or all losses"):
        LeaveOneOutPathDisplay.from_estimator(model, scores=["accuracy", "log_loss"])
    with pytest.raises(ValueError, match="scores must"):
        LeaveOneOutPathDisplay.from_estimator(model, scores=[])
    with pytest.raises(ValueError, match="bandwidth=7 is not among"):
        LeaveOneOutPathDisplay(results=model.loo_results_, bandwidth=7.0).plot()
