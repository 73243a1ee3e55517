"""Kernel sums and estimators on a CUDA device, against its limits and peers: one command.

    python benchmarks/bench_gpu.py [--quick] [--only sums,estimators] [--minutes 6] [--json FILE]

Sections: sums, estimators, growth, columns, cityblock, peers, fast; ceilings come before and a
summary after them.  Tables are printed row by row in Markdown.  Sums are
Σⱼ wⱼ exp(−‖xᵢ − yⱼ‖²/2b²) of
float32 normal points with b = 0.4·√d.  Inputs are drawn anew in each run; times are medians by
CUDA events after warm-ups on other inputs, and ours are those of the public functions, checks and
preparation included.  Errors are the largest over 512 random rows against float64: relative for
sums, absolute for logarithms.

The limit is the rate of exponentials at d ≤ 16, and above that the lower one of it and of three
float16 products, float16 rate/(3·2·d).  Section cityblock sums wⱼ exp(−Σₖ|xᵢₖ − yⱼₖ|/b), b = d,
whose limit is the exponentials and then two additions a feature at half the rate of a float32
product, which adds and multiplies in one instruction.  Section columns sums several columns of
weights at once; their errors are relative to Σ|w|k.  What does not run, and what would take
longer than its cap, is skipped with the reason.
"""

import argparse
import os
import sys
from importlib.util import find_spec

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported: estimators on tensors need it

SECTIONS = (
    "sums",
    "estimators",
    "growth",
    "columns",
    "cityblock",
    "peers",
    "fast",
)  # the first matter most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, with commas")
    parser.add_argument(
        "--minutes", type=float, default=6.0, help="after which the rest is skipped"
    )
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--device", default="cuda", help=argparse.SUPPRESS)  # cpu: tests the script
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - {*SECTIONS, "ceilings"}:
        parser.error(
            f"--only knows ceilings, {', '.join(SECTIONS)}; got {', '.join(sorted(unknown))}"
        )
    if not _has(options.device):
        print("bench_gpu.py needs torch and a CUDA device, and there is none.", file=sys.stderr)
        return 2
    from _gpu_sections import Bench

    bench = Bench(options)
    bench.header()
    for section in ("ceilings", *(s for s in SECTIONS if s in chosen), "summary"):
        bench.run(section)
    return 0


def _has(device):
    if find_spec("torch") is None:
        return False
    import torch

    return device == "cpu" or torch.cuda.is_available()


if __name__ == "__main__":
    sys.exit(main())
