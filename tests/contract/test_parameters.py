"""Parameters as users write them: numbers of any type, and errors that name what is allowed."""

from inspect import signature

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_param_validation

from contract.subjects import answers, assert_close, every_estimator, every_transformer, rows


@every_estimator
def test_the_error_for_a_wrong_name_says_the_default(subject):
    """A default that is a name is among those that the sentence offers."""
    data, model = rows(), subject.make()
    defaults = {
        name: one.default
        for name, one in signature(type(model)).parameters.items()
        if isinstance(one.default, str) and name != "device"  # torch says what devices there are
    }
    for name, default in defaults.items():
        wrong = subject.make().set_params(**{name: "lo"})
        with pytest.raises(ValueError, match=rf"'{name}' parameter of .*'{default}'.*Got 'lo'"):
            wrong.fit(data.X, data.y)


@every_estimator
def test_scikit_learn_agrees_with_the_constraints(subject):
    """Among other things, where a count and a share are allowed, 1 is a count and 1.0 a share."""
    check_param_validation(subject.name, subject.make())


SHARES = [
    ("LocalityPreservingProjection", "pca_components", 0.9),
    ("RoweisSaulProjection", "pca_components", 0.9),
    ("LaplacianClassifier", "density_subset", 0.5),
]


@every_estimator
def test_shares_may_be_numbers_of_numpy(subject):
    data = rows()
    for name, parameter, share in SHARES:
        if name != subject.name:
            continue
        plain = subject.make().set_params(**{parameter: share}).fit(data.X, data.y)
        expected = answers(plain, data.new, subject.methods)
        for kind in (np.float16, np.float32, np.float64):
            model = subject.make().set_params(**{parameter: kind(share)}).fit(data.X, data.y)
            assert_close(answers(model, data.new, subject.methods), expected, 1e-12)


@every_transformer
def test_there_are_no_names_of_coordinates_before_a_fit(subject):
    model = subject.make()
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()
