"""The decision rules: from sums over classes to scores, one function for each.

Notation, for a point x and classes c: A_c = Σ_{i in c} β_i k(x, x_i) is the inner product of x with
the class vector M_c = Σ_{i in c} β_i Φ(x_i); V_c = ‖M_c‖; a is x's own weight f̂(x)^(−1/2).
The cosine and append rules come from [1]_, the ISE rule from [2]_.

References
----------
.. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier", IEEE
   Transactions on Signal Processing 55(7), 2007.  https://doi.org/10.1109/TSP.2007.894391
.. [2] R. Jenssen, T. Eltoft, D. Erdogmus and J. C. Principe, "Some equivalences between kernel
   methods and information theoretic methods", Journal of VLSI Signal Processing 45, 2006.
   https://doi.org/10.1007/s11265-006-9771-8
"""

from array_api_compat import array_namespace

from mercer._arrays import Array
from mercer.samples import log_sum_of_others, logsumexp, safe_log


def cosine_scores(log_sums: Array, log_norms: Array) -> Array:
    """Return log γ_c = log A_c − log V_c, [1]_ (18); −inf for a class that is not there."""
    xp = array_namespace(log_sums)
    present = log_norms != -float("inf")
    absent = xp.full_like(log_sums, -float("inf"))
    return xp.where(present, log_sums - xp.where(present, log_norms, 0.0), absent)


def append_scores(
    log_sums: Array, log_norms: Array, log_links: Array, log_weight: Array, n_total: Array
) -> Array:
    """Return −N log LIC(x in c) + N log LIC: how much less the multiway cut is with x in c.

    The Laplacian information cut is Σ_{i<j} cos∠(M_i, M_j), [1]_ (15).  Of its terms only those
    of class c change when x joins it:

        Σ_{j≠c} ⟨M_c + aΦ(x), M_j⟩ / (V'_c V_j) = (B_c + a Σ_{j≠c} A_j/V_j) / V'_c,
        V'_c² = V_c² + 2aA_c + a²,

    with links B_c = Σ_{j≠c} ⟨M_c, M_j⟩/V_j.  The new cut is LIC + t₁ − t₂ with
    t₁ = a Σ_{j≠c} (A_j/V_j) / V'_c and t₂ = B_c (1/V_c − 1/V'_c), both positive.

    Parameters
    ----------
    log_sums, log_norms, log_links : arrays that broadcast to (n, classes)
        log A, log V and log B; V = 0 for a class that is not there.
    log_weight : array of shape (n,)
        log a.
    n_total : float or array of shape (n, 1)
        N: the divergence of a sample is counted once for each of its points, as a
        log-likelihood is.
    """
    xp = array_namespace(log_sums)
    cosines = cosine_scores(log_sums, log_norms)
    present = log_norms + xp.zeros_like(log_sums) != -float("inf")
    log_a = xp.expand_dims(log_weight, axis=-1)
    log_v = xp.where(present, log_norms, xp.zeros_like(cosines))
    # V'² − V² = 2aA + a²
    log_growth = log_a + xp.logaddexp(log_sums + _LOG_2, log_a + xp.zeros_like(log_sums))
    log_appended = 0.5 * xp.logaddexp(2 * log_v, log_growth)
    log_cut = logsumexp(xp.where(present, log_links - log_v, -float("inf"))) - _LOG_2
    log_cut = xp.expand_dims(log_cut, axis=-1)
    has_cut = log_cut != -float("inf")
    log_cut = xp.where(has_cut, log_cut, xp.zeros_like(log_cut))
    t1 = log_a + log_sum_of_others(cosines) - log_appended - log_cut
    # 1/V − 1/V' = (V'² − V²) / (V V' (V + V'))
    t2 = log_links + log_growth - log_v - log_appended - xp.logaddexp(log_v, log_appended) - log_cut
    share = xp.exp(t2)
    is_small = share < 0.5
    # 1 − t₂ where x outweighs its class: what the pairs without c keep, and B_c/V'.  Of two
    # classes nothing else is there.
    n_present = xp.sum(xp.astype(present, log_sums.dtype), axis=-1, keepdims=True)
    kept = 1 - xp.exp(xp.where(present, log_links - log_v, -float("inf")) - log_cut)
    kept = xp.where(n_present > 2, kept, xp.zeros_like(kept))
    direct = xp.logaddexp(safe_log(kept), log_links - log_appended - log_cut)
    left = xp.where(is_small, xp.log1p(-xp.where(is_small, share, 0.0)), direct)
    scores = -n_total * xp.logaddexp(left, t1)
    # A single class has no cut: it is the answer.
    scores = xp.where(has_cut, scores, xp.zeros_like(scores))
    return xp.where(present, scores, xp.full_like(scores, -float("inf")))


def ise_gains(sums: Array, grams: Array, cross: Array, counts: Array) -> Array:
    """Return by how much the sum of pairwise ISE grows when x joins class c, [2]_ (35)–(36).

    With m'_c = m_c + ε(Φ(x) − m_c), ε = 1/(Ω_c + 1), and m = Σ_j m_j over all C classes,

        Σ_{j≠c} ‖m'_c − m_j‖² − ‖m_c − m_j‖²
            = 2ε ⟨Φ(x) − m_c, C m_c − m⟩ + (C − 1) ε² ‖Φ(x) − m_c‖².

    Parameters
    ----------
    sums : array of shape (n, classes)
        ⟨Φ(x), m_c⟩, with k(x, x) = 1.
    grams : array that broadcasts to (n, classes)
        ‖m_c‖².
    cross : array that broadcasts to (n, classes)
        ⟨m_c, m⟩.
    counts : array that broadcasts to (n, classes)
        Ω_c; 0 for a class that is not there.
    """
    xp = array_namespace(sums)
    present = counts > 0
    n_classes = xp.sum(xp.astype(present, sums.dtype), axis=-1, keepdims=True)
    epsilon = 1 / (counts + 1)
    everywhere = xp.sum(xp.where(present, sums, xp.zeros_like(sums)), axis=-1, keepdims=True)
    step = n_classes * sums - everywhere - n_classes * grams + cross
    gains = 2 * epsilon * step + (n_classes - 1) * epsilon**2 * (1 - 2 * sums + grams)
    return xp.where(present, gains, xp.full_like(gains, -float("inf")))


_LOG_2 = 0.6931471805599453
