"""The laws of sums on torch tensors, of the CPU and of a CUDA device.

One command tries all cases on a device: ``pytest -m gpu tests/campaigns/torture --long``.
"""

import numpy as np
import pytest
from hypothesis import strategies as st

from mercer.sums import kernel_sum, log_kernel_sum
from mercer.sums.cuda import _run as _triton
from oracles import sums as oracle
from torture import test_sums as sums
from torture.cases import WEIGHTS, Refusal, agree, answered, law, log_ratios, points, weights

DEVICES = ("cpu", pytest.param("cuda", marks=pytest.mark.gpu))
HOW = st.tuples(
    st.sampled_from(sums.KERNELS), st.sampled_from(sums.FORMS), st.sampled_from(WEIGHTS)
)


def on_tensors(holds, cases, **strategies):
    """Return the test of a law of a case and a backend, which is a device of torch."""
    laws = {}
    for device in ("cpu", "cuda"):

        def of_device(**case):
            return holds(**case)

        of_device.__name__ = f"{holds.__name__}_on_{device}"
        laws[device] = law(cases, **strategies, backend=st.just(device))(of_device)

    @pytest.mark.usefixtures("torch")
    @pytest.mark.parametrize("device", DEVICES)
    def test(long, device):
        laws[device](long)

    return test


def any_form(holds):
    """Return a law of sums in any form with the backend apart."""

    def of_backend(points, how, ratio, backend):
        kernel, form, kind = how
        return holds(points, (kernel, form, backend, kind), ratio)

    of_backend.__name__ = holds.__name__
    return of_backend


CASES = {"points": sums.ANY_POINTS, "how": HOW, "ratio": sums.WIDTHS}
test_logarithms = on_tensors(any_form(sums.test_logarithms_of_sums.holds), 2_500, **CASES)
test_sums_of_any_sign = on_tensors(any_form(sums.test_sums.holds), 2_500, **CASES)
test_exact_arithmetic = on_tensors(
    sums.test_sums_by_exact_arithmetic.holds, 500,
    points=points(n=(1, 2), d=(1, 2, 5)), kind=st.sampled_from(WEIGHTS), ratio=sums.WIDTHS,
    kernel=st.sampled_from(["gaussian", "exponential", "laplacian", "cauchy"]),
)  # fmt: skip
test_two_thousand_dimensions = on_tensors(
    sums.test_sums_in_two_thousand_dimensions.holds, 100,
    points=points(n=(1, 4), d=(400, 2000), dtypes=("float64", "float32")),
    kernel=st.sampled_from(sums.KERNELS), ratio=log_ratios(-3, 3),
)  # fmt: skip
test_a_thousand_rows = on_tensors(
    sums.test_large_sums_are_symmetric.holds, 100,
    points=points(d=(1, 3, 6), layouts=("normal", "ties", "offset", "outlier", "ulps")),
    kernel=st.sampled_from(sums.KERNELS), ratio=log_ratios(-6, 6), log=st.booleans(),
)  # fmt: skip
test_without_a_row = on_tensors(
    sums.test_sums_without_a_row.holds, 500,
    points=points(n=(2, 9), d=(1, 2, 5, 9), dtypes=("float64", "float64", "float32")),
    removing=st.sampled_from([None, "squared", "plain"]), ratio=log_ratios(-3, 100),
)  # fmt: skip
test_landmarks = on_tensors(
    sums.test_sums_from_landmarks.holds, 100,
    points=points(n=(40, 60), d=(1, 3, 20)), kernel=st.sampled_from(sums.KERNELS),
    ratio=log_ratios(-3, 100), kind=st.sampled_from(WEIGHTS),
)  # fmt: skip


FUSED_ROWS = 8  # that the oracle looks at


def fused_sums(points, ratio, kind, log):
    """Sums of so many pairs that they are fused, in the form that dimension and width ask for."""
    X, Y = points.rows(1100), points.rows(1024, stream=1)
    w, b = weights(kind, len(Y), points.seed, "float32"), sums.width_of(points, ratio)
    function = log_kernel_sum if log else kernel_sum
    rest, options = {"Y": Y, "weights": w}, {"bandwidth": b}
    out = answered(sums.called, function, "cuda", X, rest, **options, names=("bandwidth",))
    if isinstance(out, Refusal):
        assert sums.may_refuse(X, rest, b), out
        return out
    rows = np.random.default_rng(points.seed).choice(len(X), FUSED_ROWS, replace=False)
    literal = oracle.log_kernel_sum if log else oracle.kernel_sum
    with np.errstate(all="ignore"):
        expected = literal(X[rows], Y, weights=w, bandwidth=b)
    if log:
        # A logarithm near zero may be the difference of a large one and a large exponent.
        heaviest = np.abs(np.log(w[w > 0].astype(float))).max()
        size = np.where(np.isfinite(expected), np.abs(expected), 0)
        # 3e-6 is for ordinary bandwidths; at a tenth of the distances 3.8e-6 was met (seed 3).
        agree(out[rows], expected, atol=1e-6 * np.maximum(5, np.maximum(size, heaviest)))
        return out
    tiny = 16 * np.finfo("float32").tiny * np.longdouble(max(float(w.max()), 1)) * len(Y)
    with np.errstate(over="ignore"):
        agree(out[rows], expected.astype("float32"), rtol=3e-4, atol=tiny)
    return out


@pytest.mark.gpu
def test_fused_sums(long, monkeypatch):
    taken = []
    fused = _triton.fused_sums
    monkeypatch.setattr(_triton, "fused_sums", lambda problem: taken.append(1) or fused(problem))
    law(
        400,
        points=points(n=(1, 1), d=(2, 8, 40), dtypes=("float32",)),
        ratio=log_ratios(-3, 3),
        kind=st.sampled_from(["near one", "wide", "widest", "one heavy"]),
        log=st.booleans(),
    )(fused_sums)(long)
    assert taken
