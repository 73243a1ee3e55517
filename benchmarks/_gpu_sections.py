"""The sections of bench_gpu.py: what is measured, and the tables of it."""

import json
import secrets
import time
from functools import partial
from statistics import median

import sklearn
import torch
from _gpu_ceilings import copy, exponentials, product
from _gpu_data import Data
from _gpu_frame import Caps, Clock, about, head, in_seconds, number, row
from _gpu_peers import all_peers, eager, is_installed, tiles_of_cdist
from _gpu_targets import print_targets

DIMENSIONS = (3, 16, 64, 256, 784)
CITY_BLOCK_DIMENSIONS = (3, 16, 64)
COLUMN_DIMENSIONS, COLUMNS = (16, 64), (10, 32)
SMALL = 16  # most features where the exponential is the limit, and where more rows are summed
GROUPS, CLASSES, RUNGS = 10, 10, 17
CAP = 8.0  # seconds that one call of a sum may be expected to take
SIZES = {  # rows of sums, more of them at small d and at large, of estimators, to predict
    "full": (100_000, 1_000_000, 300_000, (100_000, 1_000_000), 100_000),
    "quick": (20_000, 50_000, 30_000, (5_000, 20_000), 5_000),
    "cpu": (600, 1_000, 800, (500, 1_000), 500),
}


class Bench:
    def __init__(self, options):
        self.options = options
        self.device = options.device
        self.clock = Clock(self.device)
        size = "cpu" if self.device == "cpu" else "quick" if options.quick else "full"
        self.n, self.n_more, self.n_more_wide, self.n_fit, self.n_test = SIZES[size]
        self.capped = Caps(options.minutes)
        self.about = about(self.device)
        self.seed = secrets.randbelow(2**31)
        self.generator = torch.Generator(self.device).manual_seed(self.seed)
        self.ceiling = {}
        self.eager = {}  # d: pairs per second of torch's tiles
        self.records = []
        torch.set_float32_matmul_precision("highest")

    def run(self, section):
        """Run one section; whatever goes wrong there is one line."""
        print(f"\n### {section.capitalize()}\n", flush=True)
        start = time.monotonic()
        is_last = section == "summary"
        self.capped(f"section {section}", 600, getattr(self, section), even_late=is_last)
        print(f"\n({section}: {time.monotonic() - start:.0f} s)", flush=True)
        if self.options.json:
            figures = {"ceilings": self.ceiling, "records": self.records}
            with open(self.options.json, "w", encoding="utf-8") as file:
                json.dump({**self.about, "seed": self.seed, **figures}, file, indent=1)

    def summary(self):
        print_targets(self.records, self.n_fit[-1])

    def record(self, section, **values):
        self.records.append({"section": section, **values})

    def header(self):
        print(f"    {self.about['command']}\n")
        versions = [f"{k} {v}" for k, v in self.about.items() if k not in ("command", "date")]
        print(f"{self.about['date']}, seed {self.seed}, " + ", ".join(versions))
        more = f"{self.n_more:,} also at d ≤ {SMALL}, {self.n_more_wide:,} above"
        print(f"\nn = m = {self.n:,}, {more}; b = 0.4·√d", flush=True)

    def ceilings(self):
        ways = {
            "exponentials": (lambda: exponentials(self.clock), "10¹²/s"),
            "float32": (lambda: product(self.clock, torch.float32, "highest"), "TFLOP/s"),
            "TF32": (lambda: product(self.clock, torch.float32, "high"), "TFLOP/s"),
            "float16": (lambda: product(self.clock, torch.float16, "highest"), "TFLOP/s"),
            "copy": (lambda: copy(self.clock), "TB/s"),
        }
        head("ceiling", "measured", "unit")
        for name, (measure, of) in ways.items():
            rate = self.capped(f"ceiling of {name}", 30, measure)
            if rate is not None:
                self.ceiling[name] = rate
                row(name, f"{rate / 1e12:.4g}", of)
        for d in DIMENSIONS:
            row(f"limit at d = {d}", f"{self.limit(d) / 1e12:.3g}", "10¹² pairs/s")

    def limit(self, d):
        """Pairs per second, or NaN where a ceiling could not be measured."""
        exps, flops = (self.ceiling.get(k, float("nan")) for k in ("exponentials", "float16"))
        return exps if d <= SMALL else min(exps, flops / (6 * d)) + 0 * (exps + flops)

    def sums(self):
        self._sums("high", [(groups, log) for log in (False, True) for groups in (1, GROUPS)])

    def fast(self):
        print('precision="fast"; the limit is that of precision="high".\n')
        self._sums("fast", [(1, False), (1, True)])

    def cityblock(self):
        """Sums of absolute differences, which no matrix product gives, and tiles of torch.cdist."""
        head("d", "n = m", "seconds", "10¹² pairs/s", "of limit", "× torch.cdist", "error")
        for d in CITY_BLOCK_DIMENSIONS:
            self.capped(f"city-block sums at d = {d}", 60, partial(self._cityblock, d))

    def _cityblock(self, d):
        exps, flops = (self.ceiling.get(k, float("nan")) for k in ("exponentials", "float32"))
        data, other, b = self._data(self.n, d), self._data(self.n, d), float(d)
        seconds, result = self.clock.median(lambda: data.cityblock(b), lambda: other.cityblock(b))
        few = data.X[: self.n // 16]
        peer, _ = self.clock.median(lambda: tiles_of_cdist(few, data.Y, data.w, b))
        rate, ratio = self.n**2 / seconds, len(few) * self.n / peer
        share, ratio = rate * (1 / exps + 4 * d / flops), rate / ratio
        error = data.cityblock_error(result, b)
        cells = (in_seconds(seconds), f"{rate / 1e12:.3f}", f"{100 * share:.0f} %", f"{ratio:.0f}")
        row(d, f"{self.n:,}", *cells, f"{error:.1e}")
        self.record("cityblock", d=d, n=self.n, seconds=seconds, share=share, error=error)

    def columns(self):
        """Several columns of weights in one pass, by the matrix units, and torch's tiles."""
        titles = ("seconds", "× one column", "10¹² products/s", "× torch eager", "error")
        head("d", "n = m", "columns", *titles)
        for d in COLUMN_DIMENSIONS:
            for n in (self.n, self.n_more if d <= SMALL else self.n_more_wide):
                self.capped(f"columns at d = {d}, n = {n:,}", 60, partial(self._columns, n, d))

    def _columns(self, n, d):
        data, other = self._data(n, d), self._data(n, d)
        one, _ = self.clock.median(lambda: data.ours(1, False), lambda: other.ours(1, False))
        for count in COLUMNS:
            for each in (data, other):
                each.draw_columns(self.generator, count)
            seconds, result = self.clock.median(data.columns, other.columns)
            peer, few = float("nan"), data.X[: n // 16]
            if n == self.n:
                peer, _ = self.clock.median(lambda few=few: eager()[0](few, data.Y, data.W, data.b))
            rate, error = count * n * n / seconds, data.columns_error(result)
            ratio = rate / (count * len(few) * n / peer)
            cells = (in_seconds(seconds), f"{seconds / one:.2f}", f"{rate / 1e12:.2f}")
            row(d, f"{n:,}", count, *cells, number(ratio, ".1f"), f"{error:.1e}")
            self.record("columns", d=d, n=n, columns=count, seconds=seconds, one=one, error=error)

    def _data(self, n, d):
        return Data(self.generator, n, d, GROUPS)

    def _sums(self, precision, ways):
        columns = ("seconds", "10¹² pairs/s", "of limit", "× torch eager", "error")
        head("d", "n = m", "groups", "sum", *columns)
        for d in DIMENSIONS:
            rates = {}
            for n in (self.n, self.n_more if d <= SMALL else self.n_more_wide):
                what = f"d = {d}, n = {n:,}, {precision}"
                self.capped(what, 120, partial(self._sums_of, n, d, precision, ways, rates))

    def _sums_of(self, n, d, precision, ways, rates):
        """Measure these ways to sum; `rates` has those of fewer rows."""
        data, other = self._data(n, d), self._data(n, d)
        if n == self.n and d not in self.eager:
            self._eager(data, other)
        for groups, log in ways:
            what = f"d = {d}, n = {n:,}, groups = {groups}, log = {log}, {precision}"
            expected = n * n / rates.get((groups, log), float("inf"))
            if expected > CAP:
                row(f"skipped {what}: it would take about {expected:.0f} s")
                continue
            measure = partial(self._sum, data, other, groups, log, precision)
            rate = self.capped(what, 60, measure)
            if rate is not None:
                rates[groups, log] = rate

    def _sum(self, data, other, groups, log, precision):
        """Print and record one row; return pairs per second."""
        seconds, result = self.clock.median(
            lambda: data.ours(groups, log, precision=precision),
            lambda: other.ours(groups, log, precision=precision),
        )
        n, d = data.X.shape
        rate, error = n * n / seconds, data.error(result, groups, log)
        share, ratio = rate / self.limit(d), rate / self.eager.get(d, float("nan"))
        kind = "log" if log else "plain"
        cells = (in_seconds(seconds), f"{rate / 1e12:.3f}", f"{100 * share:.0f} %", f"{ratio:.1f}")
        row(d, f"{n:,}", groups, kind, *cells, f"{error:.1e}")
        self.record(
            "sums",
            precision=precision,
            d=d,
            n=n,
            groups=groups,
            sum=kind,
            first=self.clock.first,
            seconds=seconds,
            rate=rate,
            share=share,
            eager=ratio,
            error=error,
        )
        return rate

    def _eager(self, data, other):
        """Measure torch's tiles, the better of two sizes: what our rates are compared with."""
        n, d = data.X.shape
        found = [
            self.capped(f"torch eager at d = {d}", 30, partial(self._time_peer, run, data, other))
            for run in eager()
        ]
        if any(found):
            seconds, result = min(filter(None, found), key=lambda pair: pair[0])
            self.eager[d] = n * n / seconds
            self._peer_row("torch eager", d, n, seconds, data.error(result, 1, False))

    def _time_peer(self, run, data, other):
        return self.clock.median(lambda: data.peer(run), lambda: other.peer(run))

    def _peer_row(self, name, d, n, seconds, error):
        rate = n * n / seconds
        ratio = rate / self.eager.get(d, float("nan"))
        cells = (in_seconds(seconds), f"{rate / 1e12:.3f}", f"{100 * rate / self.limit(d):.0f} %")
        row(d, f"{n:,}", 1, f"plain, {name}", *cells, f"{ratio:.1f}", f"{error:.1e}")
        self.record(
            "peers", name=name, d=d, n=n, seconds=seconds, rate=rate, eager=ratio, error=error
        )

    def peers(self):
        found = []
        for name, run, module in all_peers():
            if is_installed(module):
                found.append((name, run))
            else:
                print(f"{name} is left out: {module} is not installed.\n", flush=True)
        columns = ("seconds", "10¹² pairs/s", "of limit", "× torch eager", "error")
        head("d", "n = m", "groups", "sum", *columns)
        for d in DIMENSIONS:
            self.capped(f"peers at d = {d}", 120, partial(self._peers_of, d, found))

    def _peers_of(self, d, found):
        data, other = self._data(self.n, d), self._data(self.n, d)
        if d not in self.eager:
            self._eager(data, other)
        for name, run in found:
            measure = partial(self._time_peer, run, data, other)
            measured = self.capped(f"{name} at d = {d}", 40, measure)
            if measured is not None:
                seconds, result = measured
                self._peer_row(name, d, self.n, seconds, data.error(result, 1, False))

    def growth(self):
        print(
            "Times relative to the plain sum of one group, or to its logarithm. Ladders are of "
            f"{RUNGS} bandwidths from 64·b to b/4 in steps of √2; their errors are over sums above "
            "1e-30, and of logarithms relative to max(1, |log|). X with itself: no own terms.\n"
        )
        ways = ("10 groups", "10 groups, log", "ladder", "ladder, log", "X with itself")
        head("d", "n = m", *ways, "error: ladder", "log", "itself")
        for d, n in [*((d, self.n) for d in DIMENSIONS[:-1]), (SMALL, self.n_more)]:
            self.capped(f"growth at d = {d}, n = {n:,}", 90, partial(self._growth, d, n, ways))

    def _growth(self, d, n, ways):
        data = self._data(n, d)
        ladder = [64 * data.b / 2 ** (k / 2) for k in range(RUNGS)]
        runs = {
            "plain": lambda: data.ours(1, False),
            "log": lambda: data.ours(1, True),
            ways[0]: lambda: data.ours(GROUPS, False),
            ways[1]: lambda: data.ours(GROUPS, True),
            ways[2]: lambda: data.ours(1, False, bandwidth=ladder),
            ways[3]: lambda: data.ours(1, True, bandwidth=ladder),
            ways[4]: lambda: data.ours_with_itself(),
        }
        if n > self.n:  # seconds for each call
            del runs[ways[2]], runs[ways[3]]
        times, results, all_once = {name: [] for name in runs}, {}, 1e-6
        for name, run in list(runs.items()):
            what = f"{name} at d = {d}, n = {n:,}"
            seconds = self.capped(what, 30, partial(self._warm_up, run))
            if seconds is None:
                del runs[name]
            else:
                all_once += seconds
        for _ in range(min(7, max(2, int(8 / all_once)))):  # in turn: all meet the same chip
            for name, run in runs.items():
                seconds, results[name] = self.clock.once(run)
                times[name].append(seconds)
        middle = {name: median(times[name]) if times[name] else float("nan") for name in times}
        ratios, cells = {}, []
        for name in ways:
            base = middle["log"] if name.endswith("log") else middle["plain"]
            ratios[name] = middle.get(name, float("nan")) / base
            cells.append(number(ratios[name], ".2f"))
        errors = {
            ways[2]: lambda out: data.ladder_error(out, ladder, log=False),
            ways[3]: lambda out: data.ladder_error(out, ladder, log=True),
            ways[4]: lambda out: data.error_with_itself(out),
        }
        found = {name: find(results[name]) for name, find in errors.items() if name in results}
        cells += [f"{found[name]:.1e}" if name in found else "–" for name in errors]
        row(d, f"{n:,}", *cells)
        self.record("growth", d=d, n=n, seconds=middle, ratios=ratios, errors=found)

    def _warm_up(self, run):
        """Return how long the second run took, if that is not too long to be repeated."""
        self.clock.once(run)
        seconds, _ = self.clock.once(run)
        if seconds > CAP:
            raise TimeoutError(f"one call takes {seconds:.0f} s")
        return seconds

    def estimators(self):
        from mercer import LaplacianClassifier
        from mercer.discriminants import SparseKernelFisherDiscriminant

        models = (LaplacianClassifier, lambda: SparseKernelFisherDiscriminant(random_state=0))
        X, y = self._blobs(max(self.n_fit) + self.n_test)
        X_test, y_test = X[-self.n_test :], y[-self.n_test :]
        print(
            f"Self-tuned, d = {X.shape[1]}, {CLASSES} classes, float32 tensors on the device from "
            f"fit to predict; {self.n_test:,} fresh rows. The best possible accuracy there is "
            f"{100 * self._best_accuracy(X_test, y_test):.2f} %.\n"
        )
        columns = ("predict, s", "accuracy, %", "peak memory, GB")
        head("estimator", "rows", "fit, s", "runs", "growth of fit", *columns)
        compiled = []
        for make in models:
            name, before = type(make()).__name__, None
            with sklearn.config_context(array_api_dispatch=True):
                few = X[: self.n_fit[0]], y[: self.n_fit[0]]
                first = self.capped(
                    f"first fit of {name}",
                    90,
                    lambda: self.clock.once(lambda: make().fit(*few).predict(X_test)),  # noqa: B023
                )
                for n in self.n_fit:
                    arguments = (name, make, X[:n], y[:n], X_test, y_test, before)
                    what = f"{name} on {n:,} rows"
                    before = self.capped(what, 75, partial(self._estimator, *arguments))
            if first is not None:
                compiled.append(f"{name} {first[0]:.1f} s")
        print(
            f"\nThe first fit and prediction in a program, with compilation: {', '.join(compiled)}."
        )

    def _estimator(self, name, make, X, y, X_test, y_test, before):
        if self.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        seconds, model = self.clock.once(lambda: make().fit(X, y))
        times = [seconds]
        while len(times) < 3 and sum(times) + seconds < 12:
            model = None  # its memory is not that of the next
            seconds, model = self.clock.once(lambda: make().fit(X, y))
            times.append(seconds)
        fit = median(times)
        predict, labels = self.clock.once(lambda: model.predict(X_test))
        where = str(getattr(labels, "device", "cpu"))
        labels = torch.as_tensor(labels, device=y_test.device)
        accuracy = float((labels == y_test).double().mean())
        memory = torch.cuda.max_memory_allocated() / 1e9 if self.device == "cuda" else float("nan")
        growth = "" if before is None else f"{fit / before:.1f}"
        cells = (in_seconds(predict), f"{100 * accuracy:.2f}", number(memory, ".2f"))
        row(name, f"{len(X):,}", in_seconds(fit), len(times), growth, *cells)
        self.record(
            "estimators",
            name=name,
            n=len(X),
            fit=fit,
            fits=times,
            predict=predict,
            accuracy=accuracy,
            memory=memory,
            device=where,
        )
        return fit

    def _blobs(self, n, d=16):
        """Normal classes about the same ten centres in each run, close enough to overlap."""
        options = {"generator": self.generator, "device": self.device}
        centres = torch.randn(CLASSES, d, generator=torch.Generator().manual_seed(0))
        self.centres = (0.67 * centres).to(self.device)
        y = torch.randint(CLASSES, (n,), **options)
        return self.centres[y] + torch.randn(n, d, **options), y

    def _best_accuracy(self, X, y):
        return float((torch.cdist(X, self.centres).argmin(1) == y).double().mean())
