"""The Laplacian classifier: the cosine to class means weighted by inverse root densities."""

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, cast

from array_api_compat import array_namespace
from sklearn.utils import check_random_state

from mercer._arrays import Array, to_numpy
from mercer._sklearn import FloatInterval, Interval, StrOptions, fit_context
from mercer.bandwidth import RULES
from mercer.classifiers._class_vectors import ClassVectors, append_scores, cosine_scores
from mercer.classifiers._leave_one_out import Ladder, LeftOut, LeftOutVectors
from mercer.classifiers._leave_one_out_exact import ExactlyLeftOut, require_few_rows
from mercer.classifiers._nodes import choose_nodes
from mercer.classifiers._race import choose, race
from mercer.classifiers._selection import sample_bandwidth, self_tune
from mercer.classifiers._significance import Density, choose_subset
from mercer.kernels import mercer_width
from mercer.samples import (
    BlockSample,
    ProbabilityClassifier,
    Sample,
    SortedSample,
    check_priors,
    check_training,
    home_of,
    log_priors,
    logsumexp,
    safe_log,
)
from mercer.sums import expect_left_out_sums, group_sums, kernel_sum

_TABLES = 6  # Links hold this many arrays of (rows, classes) at once.


class LaplacianClassifier(ProbabilityClassifier):
    r"""Classify by the angle to class means, in which each point counts by its rarity.

    A class is the mean of its points in the feature space of the Gaussian kernel, each weighted by
    the inverse root of the data's density there, so that points in thin regions, often those
    between classes, count more.  A new point goes to the class whose mean vector makes the smallest
    angle with it.  Nothing is optimised but one bandwidth, and that by leave-one-out on
    a ladder of 17 in a few passes over the pairs.

    .. math::

        \gamma_c(x) = \frac{1}{V_c} \sum_{i \in c} \hat f(x_i)^{-1/2}\, k(x, x_i), \qquad
        V_c^2 = \sum_{i, j \in c} \hat f(x_i)^{-1/2}\, k(x_i, x_j)\, \hat f(x_j)^{-1/2}

    with :math:`k` the Gaussian kernel of width √2·h and :math:`\hat f` the Parzen estimate of width
    h over all training rows [1]_.

    =================  ==========================================
    paper              here
    =================  ==========================================
    σ                  ``bandwidth``, ``bandwidth_`` (h)
    σ̃ = √2·σ           the kernel's width, √2·``bandwidth_``
    f̂^(−1/2)           ``weights_``, up to a common factor
    γ_c                exp(``decision_function``)
    V_c                ``norms_``
    N_c/N              ``class_prior_``
    =================  ==========================================

    Parameters
    ----------
    bandwidth : float or str, default="loo"
        The Parzen width h; ``"loo"`` chooses it by leave-one-out among √2 steps from a sixteenth of
        Silverman's to sixteen times it; or a rule of :func:`mercer.bandwidth.resolve_bandwidth`.
    rule : {"cosine", "append", "auto"}, default="cosine"
        ``"cosine"`` is (16)–(19) of the paper; ``"append"`` puts the point in each class
        in turn and takes the one with the least multiway Laplacian information cut (15), which
        the paper sets out to minimise; ``"auto"`` lets leave-one-out choose.
    density : {"parzen", "mercer"} or None, default="parzen"
        Windows of f̂: of width h as printed in (8), or of width √2·h, as the row sums of a graph's
        affinities; None is f ≡ 1, no weighting.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What leave-one-out maximises.  Take the second where rare classes matter.
    loo_rows : int or None, default=32768
        How many rows leave-one-out judges at most, drawn by class, each without itself and
        with all others; None judges all, unless a bandwidth is clearly not the best.
    priors : array-like of shape (n_classes,), "uniform" or None, default=None
        None is the paper: no prior is used.  Otherwise log π_c − log(N_c/N) is added to the
        scores, and a class of prior 0 is never chosen.
    density_subset : int, float or None, default=None
        How many rows, or what share of them, f̂ is estimated from.  A row keeps its own term.
    n_nodes : int or None, default=None
        How many rows the expansion is pruned to, for faster prediction; None keeps all.
    node_selection : {"herding", "largest", "random"}, default="herding"
        How nodes are chosen: so that they stand for the class means, with new weights; those of the
        largest weights, as the paper proposes; or at random.
    loo : {"fast", "exact"}, default="fast"
        Whether leave-one-out takes the change of V_c to first order, or exactly in time n³
        (for at most 2000 rows).
    tol : float or None, default=None
        Relative error allowed to the kernel sums, each of them, for linear time at up to three
        features (see :func:`mercer.sums.kernel_sum`); None adds up every term.  Leave-one-out
        always does.
    random_state : int, RandomState instance or None, default=None
        For `density_subset` and random nodes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    bandwidth_ : float
        As used.
    rule_ : {"cosine", "append"}
        As used.
    weights_ : array of shape (n_rows,)
        Significance of the training rows of positive weight, f̂^(−1/2) in units of
        one window's peak over N: between 1 and √N.
    X_fit_ : array of shape (n_nodes, n_features)
        Rows of the expansion.
    node_weights_ : array of shape (n_nodes,)
        Weights of the nodes.
    node_classes_ : array of int of shape (n_nodes,)
        Index into ``classes_``.
    support_ : array of int of shape (n_nodes,)
        Which training rows the nodes are.
    norms_ : array of shape (n_classes,)
        V_c.
    class_prior_ : array of shape (n_classes,)
        Shares of the classes in training, N_c/N.
    priors_ : array of shape (n_classes,)
        As used.
    loo_results_ : dict of arrays
        Only with ``bandwidth="loo"`` or ``rule="auto"``: rule, bandwidth, accuracy, balanced
        accuracy, their log-losses, rows, how many of them these come from, and error, the standard
        error of the difference to the best.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    ParzenClassifier : Bayes' rule with the same windows.
    ISEClassifier : Distance instead of angle.

    Notes
    -----
    Time: one sum over all pairs (n²·d) for a given bandwidth, some twenty times that for
    leave-one-out over 17; n_test·n·d to predict.  ``rule="append"`` takes twice as long.
    Memory grows with n, and while leaving out with n times the number of classes.  With `tol`, at
    most three features and a given bandwidth, time grows with n instead of n².

    Above 32 768 rows, bandwidths are judged on a random part of the rows first, 8192 or up to twice
    as many, each row still without itself and with all others; those that are behind the best
    by more than chance explains (6.5 standard errors of the difference) drop out, the others
    go on to more rows.  The choice is that of all rows, but for a probability of some 1e-8.

    Leave-one-out of ``rule="append"`` counts a row as right only if it is so both with and without
    its weight in the size of its class: a class that has lost a row could be told by that.

    Departures from the paper: the cosine rule (16) is not the minimiser of the cost after
    assigning the point, as the text says; ``rule="append"`` is.  (17) prints W_σ where the
    derivation needs W_{√2σ}.  Scores are kept as logarithms, so that a point far from all data
    still gets the class of the largest cosine.

    What lifts rare classes is the normalisation V_c rather than the weights.  On tables of
    many kinds a tuned SVC or kernel Fisher discriminant is a little more accurate; this
    classifier is quicker to tune.  `predict_proba` is the normalised score γ_c / Σ γ, no
    calibrated probability.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier",
       IEEE Transactions on Signal Processing 55(7), 3262–3271, 2007.
       https://doi.org/10.1109/TSP.2007.894391

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import LaplacianClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LaplacianClassifier()).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.955
    """

    bandwidth_: float
    rule_: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"loo", *RULES})],
        "rule": [StrOptions({"cosine", "append", "auto"})],
        "density": [StrOptions({"parzen", "mercer"}), None],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "loo_rows": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "density_subset": [
            Interval(Integral, 1, None, closed="left"),
            FloatInterval(0, 1, closed="right"),
            None,
        ],
        "n_nodes": [Interval(Integral, 1, None, closed="left"), None],
        "node_selection": [StrOptions({"herding", "largest", "random"})],
        "loo": [StrOptions({"fast", "exact"})],
        "tol": [Interval(Real, 0, 1, closed="neither"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        bandwidth: Any = "loo",
        rule: str = "cosine",
        density: str | None = "parzen",
        scoring: str = "accuracy",
        loo_rows: int | None = 2**15,
        priors: Any = None,
        density_subset: float | None = None,
        n_nodes: int | None = None,
        node_selection: str = "herding",
        loo: str = "fast",
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.rule = rule
        self.density = density
        self.scoring = scoring
        self.loo_rows = loo_rows
        self.priors = priors
        self.density_subset = density_subset
        self.n_nodes = n_nodes
        self.node_selection = node_selection
        self.loo = loo
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LaplacianClassifier":
        """Weigh the rows, choose the bandwidth, and add up the class norms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts: 2 is the same as the row twice.  Others
            are relative: a common factor changes nothing.

        Returns
        -------
        self
            The fitted estimator.
        """
        given = check_training(self, X, y, sample_weight)
        sample = given.sorted()
        random_state = check_random_state(self.random_state)
        parts = (sample.X, sample.codes, sample.weights)
        X, codes, weights = (sample.as_given(part) for part in parts)
        density = Density(
            self.density, choose_subset(self.density_subset, X.shape[0], random_state)
        )
        if isinstance(self.bandwidth, str):
            expect_left_out_sums(
                sample.X, removes=self.density is not None, squared=density.squared
            )
        counts = to_numpy(sample.counts)
        self.class_prior_ = sample.per_class(counts / counts.sum())
        self.priors_ = sample.per_class(check_priors(self.priors, counts))
        chosen = self._choose(sample, density.of_rows(sample.order))

        xp = array_namespace(weights)
        self.weights_ = xp.ones_like(weights)
        if chosen.densities is not None:
            self.weights_ = sample.as_given((xp.sum(weights) / chosen.densities[0, :]) ** 0.5)
        self._expand(given, codes, chosen, random_state)
        self.weights_ = given.spread_out(self.weights_)
        if self.rule_ == "append":
            self._density_rows, self._density_weights = density.rows_for_points(X, weights)
        return self

    def _choose(self, sample: SortedSample, density: Density) -> LeftOutVectors:
        """Set `bandwidth_` and `rule_`, by leave-one-out where that is asked for.

        Return the class vectors at that bandwidth, with what leave-one-out has computed of them.
        """
        rules = ("cosine", "append") if self.rule == "auto" else (self.rule,)
        ways = {rule: partial(self._left_out_ways, rule) for rule in rules}

        def vectors(bandwidths: tuple[float, ...], tol: float | None = None) -> LeftOutVectors:
            return LeftOutVectors.of(
                sample,
                bandwidths,
                density.at_rows(sample.X, sample.weights, bandwidths, tol),
                squared=density.squared,
                leaving=density.leaving(sample.weights, sample.unit),
                links="norms" if "append" in rules else None,
                tol=tol,
            )

        def prepare(bandwidths: tuple[float, ...]) -> Ladder:
            fast = vectors(bandwidths)
            return ExactlyLeftOut(fast) if self.loo == "exact" and density.kind else fast

        by_loo = isinstance(self.bandwidth, str) and self.bandwidth == "loo"
        is_exact = self.loo == "exact" and density.kind and (by_loo or self.rule == "auto")
        if is_exact and isinstance(sample, BlockSample):
            require_few_rows(sample.X.shape[0])
            in_memory = sample.loaded()
            self._choose(in_memory, density.of_rows(in_memory.order))
            return vectors((self.bandwidth_,))
        if by_loo:
            self.loo_results_, best, chosen = self_tune(
                prepare, ways, sample, self.scoring, self.loo_rows
            )
        else:
            bandwidth = sample_bandwidth(self.bandwidth, sample)
            if self.rule != "auto":
                self.bandwidth_, self.rule_ = bandwidth, self.rule
                return vectors((bandwidth,), self.tol)
            chosen = prepare((bandwidth,))
            self.loo_results_ = race(chosen, ways, sample.in_memory, self.scoring, self.loo_rows)
            best = choose(self.loo_results_, self.scoring)
        self.bandwidth_ = float(self.loo_results_["bandwidth"][best])
        self.rule_ = str(self.loo_results_["rule"][best])
        fast = chosen.fast if isinstance(chosen, ExactlyLeftOut) else chosen
        return cast(LeftOutVectors, fast)

    def _left_out_ways(self, rule: str, part: LeftOut) -> list[Array]:
        """Return the scores of rows without them; of the append rule, also by whole classes."""
        parts = [part] if rule == "cosine" else [part, part.with_whole_classes()]
        return [self._left_out_scores(rule, p) for p in parts]

    def _left_out_scores(self, rule: str, part: LeftOut) -> Array:
        """Return the scores that the rows would get from a classifier without them."""
        xp = array_namespace(part.log_sums)
        total = xp.sum(part.counts, axis=1, keepdims=True)
        if rule == "cosine":
            scores = cosine_scores(part.log_sums, part.log_norms)
        else:
            scores = append_scores(
                part.log_sums, part.log_norms, part.log_links, part.log_weight, total
            )
        if self.priors is None:
            return scores
        shares = safe_log(part.counts / total)
        shift = log_priors(self.priors_) - xp.where(shares == -float("inf"), 0.0, shares)
        return scores + shift

    def _expand(
        self,
        given: Sample | BlockSample,
        codes: Array,
        chosen: LeftOutVectors,
        random_state: Any,
    ) -> None:
        """Set the nodes of the expansion, their weights, the norms, and the append rule's links."""
        vectors = chosen.vectors
        beta, (width,) = vectors.sample.as_given(vectors.weights[0, :]), vectors.widths
        rows = given.rows
        if self.n_nodes is None or self.n_nodes >= rows.shape[0]:
            X = vectors.sample.as_given(vectors.sample.X)
        else:
            nodes, X, codes, beta = choose_nodes(
                self.node_selection, given, beta, width, self.n_nodes, random_state
            )
            (rows,) = given.take(nodes, given.rows)
            sample = SortedSample.of(X, codes, beta)
            vectors = ClassVectors(sample, (width,), sample.weights[None, :], self.tol)
        xp = array_namespace(beta)
        self.X_fit_, self.node_weights_ = X, beta
        like = home_of(beta).like
        self.node_classes_, self.support_ = (like(v, beta, xp.int64) for v in (codes, rows))
        self.norms_ = vectors.squared_norms[0, :] ** 0.5
        if self.rule_ == "append":
            is_known = vectors is chosen.vectors and "products" in vectors.known
            self._log_links = chosen.whole(0).log_links[0, :] if is_known else _log_links(vectors)

    def _log_own_weight(self, X: Array) -> Array:
        """Return log f̂(x)^(−1/2) of new points, their own windows included."""
        xp = array_namespace(X)
        if self.density is None:
            return xp.astype(xp.zeros_like(X[:, 0]), xp.float64)
        F = kernel_sum(
            X,
            self._density_rows,
            weights=xp.astype(self._density_weights, self._density_rows.dtype),
            bandwidth=Density(self.density).window(self.bandwidth_),
            tol=self.tol,
        )
        return -0.5 * xp.log1p(xp.astype(F, xp.float64))

    def _scores(self, X: Array) -> Array:
        xp = array_namespace(X)
        log_sums = group_sums(
            X, self.X_fit_, self.node_weights_, self.node_classes_, len(self.classes_),
            log=True, bandwidth=mercer_width(self.bandwidth_), tol=self.tol,
        )  # fmt: skip
        if self.rule_ == "cosine":
            scores = cosine_scores(log_sums, xp.log(self.norms_))
        else:
            total = float(xp.sum(self._density_weights))
            scores = append_scores(
                log_sums, xp.log(self.norms_), self._log_links, self._log_own_weight(X), total
            )
        if self.priors is None:
            return scores
        return scores + log_priors(self.priors_) - xp.log(self.class_prior_)


def _log_links(vectors: ClassVectors) -> Array:
    """Return log B_c = log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j at one width: one pass over the pairs."""
    sample, beta, (width,) = vectors.sample, vectors.weights[0, :], vectors.widths
    xp, norms = array_namespace(beta), vectors.squared_norms[0, :] ** 0.5
    divided, parts = beta / sample.of_own_class(norms), []
    for rows in sample.slabs(8 * _TABLES * sample.n_classes):
        logs = group_sums(
            sample.X[rows, :], sample.X, divided, sample.codes, sample.n_classes,
            log=True, bandwidth=width, tol=vectors.tol,
        )  # fmt: skip
        others = xp.where(sample.is_of_class(rows), -float("inf"), logs)
        parts.append(logsumexp(others) + xp.log(beta[rows]))
    by_row = parts[0] if len(parts) == 1 else xp.concat(parts)
    return home_of(by_row).log_total(by_row, sample.codes, sample.n_classes)
