"""Points of one kernel sum, the sum by Mercer, and its error against float64.  For bench_gpu.py."""

import torch

from mercer.sums import kernel_sum, log_kernel_sum

CHECKED = 512  # random rows, for errors


class Data:
    """Points, weights and groups of one sum, and what float64 says of it."""

    def __init__(self, generator, n, d, n_groups):
        options = {"generator": generator, "device": generator.device}
        self.X, self.Y = (torch.randn(n, d, **options) for _ in range(2))
        self.w = 0.5 + torch.rand(n, **options)
        self.groups = torch.randint(n_groups, (n,), **options)
        self.n_groups = n_groups
        self.rows = torch.randint(n, (CHECKED,), **options)
        self.b = 0.4 * d**0.5
        self._by_group = None

    def ours(self, groups, log, bandwidth=None, precision="high"):
        return (log_kernel_sum if log else kernel_sum)(
            self.X,
            self.Y,
            weights=self.w,
            groups=None if groups == 1 else self.groups,
            bandwidth=self.b if bandwidth is None else bandwidth,
            precision=precision,
        )

    def ours_with_itself(self):
        return kernel_sum(self.X, weights=self.w, bandwidth=self.b, exclude_self=True)

    def cityblock(self, bandwidth):
        return kernel_sum(self.X, self.Y, weights=self.w, kernel="laplacian", bandwidth=bandwidth)

    def cityblock_error(self, result, bandwidth):
        """Largest relative error over the checked rows."""
        Y, w, truth = self.Y.double(), self.w.double(), []
        for rows in self.rows.split(64):
            distances = torch.cdist(self.X[rows].double(), Y, p=1.0)
            truth.append((-distances / bandwidth).exp() @ w)
        return _error(result[self.rows].double(), torch.cat(truth).log(), False)

    def draw_columns(self, generator, count):
        """Draw weights of either sign, (n, count), as a solver of a full kernel system has them."""
        self.W = torch.randn(len(self.Y), count, generator=generator, device=generator.device)

    def columns(self):
        return kernel_sum(self.X, self.Y, weights=self.W, bandwidth=self.b)

    def columns_error(self, result):
        """Largest error over the checked rows, relative to Σ|w|k: terms of either sign cancel."""
        Y, W, errors = self.Y.double(), self.W.double(), []
        for rows in self.rows.split(64):
            d2 = torch.cdist(self.X[rows].double(), Y).square()
            k = (-d2 / (2 * self.b**2)).exp()
            errors.append(((result[rows].double() - k @ W).abs() / (k @ W.abs())).max())
        return float(torch.stack(errors).max())  # NaN where one is NaN

    def peer(self, run):
        return run(self.X, self.Y, self.w, self.b)

    def error(self, result, groups, log):
        """Largest error over the checked rows: of the logarithm, or relative."""
        if self._by_group is None:
            self._by_group = self._log_truth(self.b)
        truth = self._by_group if groups > 1 else torch.logsumexp(self._by_group, 1)
        return _error(result[self.rows].double(), truth, log)

    def ladder_error(self, result, ladder, *, log):
        errors = []
        for b, of_width in zip(ladder, result, strict=True):
            truth = torch.logsumexp(self._log_truth(b), 1)
            found = of_width[self.rows].double()
            if log:
                errors.append(float(((found - truth).abs() / truth.abs().clamp(min=1)).max()))
            else:
                seen = truth > -69  # above 1e-30, far from where float32 ends
                if bool(seen.any()):
                    errors.append(_error(found[seen], truth[seen], log))
        return _largest(errors)

    def error_with_itself(self, result):
        truth = torch.logsumexp(self._log_truth(self.b, with_itself=True), 1)
        return _error(result[self.rows].double(), truth, False)

    def _log_truth(self, b, with_itself=False):
        """Return log Σ of each group at the checked rows, (rows, groups), in float64."""
        order = torch.argsort(self.groups)
        sizes = torch.bincount(self.groups, minlength=self.n_groups).tolist()
        Y = (self.X if with_itself else self.Y)[order].double()
        y2, log_w = (Y * Y).sum(1), self.w[order].double().log()
        parts = []
        for rows in self.rows.split(64):
            x = self.X[rows].double()
            d2 = (x * x).sum(1)[:, None] + y2 - 2 * (x @ Y.T)
            logs = log_w - d2.clamp_(min=0) / (2 * b * b)
            if with_itself:
                logs[rows[:, None] == order] = -torch.inf
            parts.append(
                torch.stack([torch.logsumexp(part, 1) for part in logs.split(sizes, 1)], 1)
            )
        return torch.cat(parts)


def _error(found, truth, log):
    difference = found - truth if log else found / truth.exp() - 1
    return float(difference.abs().max())  # NaN where one is NaN


def _largest(errors):
    return max(errors) if errors and all(e == e for e in errors) else float("nan")
