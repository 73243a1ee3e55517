"""Columns of weights on a CUDA device, against the literal sum in float64."""

import pytest
from sklearn import config_context

from mercer.kernels import KERNELS
from mercer.sums import kernel_sum
from mercer.sums.cuda import _columns
from mercer.sums.cuda._layout import APART, BESIDE, DIFFERENCES, RESIDENT, STREAMED, TOGETHER

pytestmark = pytest.mark.gpu

TARGET = 3e-6  # of Σ|w|·k, at bandwidths of the order of distances
# features, bandwidth as a part of √d, and how distances are then computed
FORMS = {
    "differences": (3, 0.01, (DIFFERENCES, False)),
    "together": (3, 0.5, (TOGETHER, False)),
    "beside": (8, 0.5, (BESIDE, False)),
    "beside, narrow": (8, 0.2, (BESIDE, True)),
    "apart": (16, 0.5, (APART, False)),
    "apart, narrow": (16, 0.2, (APART, True)),
    "resident": (40, 0.5, (RESIDENT, False)),
    "resident, narrow": (40, 0.2, (RESIDENT, True)),
    "streamed": (100, 0.5, (STREAMED, False)),
    "streamed, narrow": (100, 0.2, (STREAMED, True)),
}


@pytest.fixture
def forms(monkeypatch):
    """How distances were computed: the form, and whether it was precise."""
    seen = []
    choose = _columns.Packer.of.__func__

    def of(cls, *args, **options):
        packer = choose(cls, *args, **options)
        seen.append((packer.form, packer.precise))
        return packer

    monkeypatch.setattr(_columns.Packer, "of", classmethod(of))
    return seen


def normal(torch, *shape, seed=0):
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(*shape, generator=generator, device="cuda")


def literal(torch, X, Y, W, kernel, bandwidth, exclude_self=False):
    """Return Σ w·k and Σ|w|·k, in float64; Y is X where it is None."""
    alone = Y is None
    X, Y, W = X.double(), X.double() if alone else Y.double(), W.double()
    kernel, sums, sizes = KERNELS[kernel], [], []
    for start in range(0, len(X), 256):
        x = X[start : start + 256]
        d2 = kernel.squared_distances(x[:, f, None] - Y[None, :, f] for f in range(X.shape[1]))
        K = kernel.profile(d2, bandwidth)
        if exclude_self:
            own = torch.arange(len(x), device=X.device)
            K[own, start + own] = 0
        sums.append(K @ W)
        sizes.append(K @ W.abs())
    return torch.cat(sums), torch.cat(sizes)


def check(torch, X, Y, W, *, kernel="gaussian", bandwidth, within=TARGET, **options):
    out = kernel_sum(X, Y, weights=W, kernel=kernel, bandwidth=bandwidth, **options)
    expected, size = literal(torch, X, Y, W, kernel, bandwidth, **options)
    assert out.shape == expected.shape
    lost = len(X if Y is None else Y) * W.abs().max() * torch.finfo(torch.float32).tiny
    error = (out - expected).abs() - lost
    assert (error <= within * size).all(), (error / size).max()


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize(("d", "part", "form"), FORMS.values(), ids=FORMS)
def test_forms(torch, forms, d, part, form, exclude_self):
    X, W, width = normal(torch, 1500, d), normal(torch, 1500, 16, seed=1), part * d**0.5
    # Narrow windows amplify the error of the distances: 8·eps·(1 + r²/2b²) is promised.
    within = TARGET if part == 0.5 else 8 * 2.0**-23 * (1 + 2 / part**2)
    check(torch, X, None, W, bandwidth=width, exclude_self=exclude_self, within=within)
    assert forms == [form]


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("d", [3, 16, 70])
@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "cauchy", "epanechnikov"])
def test_other_kernels(torch, forms, kernel, d, exclude_self):
    X, W = normal(torch, 1500, d), normal(torch, 1500, 16, seed=1)
    width = 4 * d if kernel == "laplacian" else 4 * d**0.5
    check(torch, X, None, W, kernel=kernel, bandwidth=width, exclude_self=exclude_self)
    assert len(forms) == 1


@pytest.mark.parametrize("n_columns", [1, 2, 10, 16, 17, 70])
def test_any_number_of_columns(torch, forms, n_columns):
    X, Y, W = normal(torch, 1100, 16), normal(torch, 3000, 16, seed=1), normal(torch, 3000, 70)
    check(torch, X, Y, W[:, :n_columns], bandwidth=4.0)
    assert len(forms) == -(-n_columns // 64)


def test_weights_that_span_a_band(torch):
    """Light rows count where the heavy ones are far away or have no weight in a column."""
    X = normal(torch, 2000, 8)
    X[1000:] += 20
    W = normal(torch, 2000, 4, seed=1)
    W[:, 0] *= 2.0 ** -torch.randint(0, 50, (2000,), device="cuda")
    W[1000:, 1] *= 2.0**-50
    W[:1000, 2] = 0
    W[:, 3] = (torch.arange(2000, device="cuda") == 1500).float()
    check(torch, X, None, W, bandwidth=3.0, within=3 * TARGET)


def test_equal_terms_have_no_common_error(torch):
    """Rows on a grid: many kernel values are the same, and so is what rounding does to them."""
    X = torch.randint(0, 2, (3000, 10), device="cuda").float()
    W = torch.full((3000, 2), 0.3, device="cuda")
    W[:, 1] = -0.7123
    for width in (1.3, 2.1, 100.0):
        check(torch, X, None, W, bandwidth=width, within=1e-6)


def test_several_bandwidths(torch):
    X, W = normal(torch, 1500, 16), normal(torch, 1500, 16, seed=1)
    widths = [4.0, 2.0, 3.0]
    out = kernel_sum(X, weights=W, bandwidth=widths)
    for width, sums in zip(widths, out, strict=True):
        expected, size = literal(torch, X, None, W, "gaussian", width)
        assert ((sums - expected).abs() <= TARGET * size).all()


@pytest.mark.parametrize("d", [3, 16, 64, 256])
def test_slabs_give_what_one_does(torch, d):
    X, W = normal(torch, 5000, d), normal(torch, 5000, 20, seed=1)
    with config_context(working_memory=1):
        check(torch, X, None, W, bandwidth=d**0.5, exclude_self=True)


@pytest.mark.parametrize("d", [16, 64])
def test_memory_stays_within_the_budget(torch, d):
    X, W = normal(torch, 200_000, d), normal(torch, 200_000, 16, seed=1)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with config_context(working_memory=256):
        out = kernel_sum(X, weights=W, bandwidth=d**0.5)
    # Beside the budget there are sums in float64 and the weights, scaled.
    peak = torch.cuda.max_memory_allocated() - before
    assert peak < 300 * 2**20 + 3 * 8 * out.numel() + 4 * 4 * W.numel()
    some = torch.arange(0, 200_000, 1999, device="cuda")
    expected, size = literal(torch, X[some], X, W, "gaussian", d**0.5)
    assert ((out[some] - expected).abs() <= TARGET * size).all()


def test_fast_precision_stays_near(torch):
    X, W = normal(torch, 1500, 100), normal(torch, 1500, 16, seed=1)
    out = kernel_sum(X, weights=W, bandwidth=10.0, precision="fast")
    expected, size = literal(torch, X, None, W, "gaussian", 10.0)
    assert ((out - expected).abs() <= 3e-3 * size).all()


def test_runs_are_bit_identical(torch):
    X, W = normal(torch, 20_000, 16), normal(torch, 20_000, 16, seed=1)
    first = kernel_sum(X, weights=W, bandwidth=2.0)
    assert torch.equal(first, kernel_sum(X, weights=W, bandwidth=2.0))


def test_gradients(torch, forms):
    X, W = normal(torch, 1100, 6), normal(torch, 1100, 3, seed=1)

    def gradients(dtype):
        x, w = (A.detach().to(dtype).requires_grad_() for A in (X, W))
        return torch.autograd.grad((kernel_sum(x, weights=w, bandwidth=2.0) ** 2).sum(), (x, w))

    for ours, theirs in zip(gradients(torch.float32), gradients(torch.float64), strict=True):
        scale = theirs.abs().max().item()
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-5 * scale)
    assert len(forms) == 1
