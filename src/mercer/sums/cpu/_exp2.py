"""2**a for compiled loops: range reduction, a polynomial, a shift of the exponent's bits.

There is no branch, so LLVM makes vector code of a loop around it; it is the fastest way to
an exponential on a CPU, and Numba's own is neither vectorised nor the same on every machine.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from mercer.sums.cpu._compile import compiled

# Coefficients of 2**f on [−½, ½], interpolated at Chebyshev's nodes in 40 digits: the relative
# errors of the two polynomials are 2.5e-9 and 2.9e-16.
_SINGLE = tuple(
    np.float32(c)
    for c in (
        1.0,
        0.6931472067028326,
        0.24022650922288757,
        0.05550327226670302,
        0.009618056678524637,
        0.0013400428177615838,
        0.0001546144469856913,
    )
)
_DOUBLE = (
    1.0,
    0.69314718055995,
    0.24022650695910097,
    0.05550410866444772,
    0.009618129107606888,
    0.0013333558230164974,
    0.0001540353044173605,
    1.5252657260200837e-05,
    1.321544258792169e-06,
    1.0208690299958306e-07,
    7.072585949269223e-09,
)
# Adding this number leaves the nearest integer in the low bits.
_SINGLE_ROUND = np.float32(1.5 * 2**23)
_DOUBLE_ROUND = 1.5 * 2.0**52
# The exponent of the smallest normal number.
_SINGLE_LOWEST = np.float32(-126)
_DOUBLE_LOWEST = -1022.0

# "contract" alone: any more freedom would let LLVM cancel (a + ROUND) − ROUND.
_exact = compiled("contract")


def exp2(a):
    """Return 2**a for a ≤ 0, in compiled code, within one (float32) or two (float64) eps.

    Zero where the result would be subnormal, and at minus infinity; NaN stays.
    """
    raise TypeError("exp2 is for compiled code.")  # Compiled code uses the overload.


@overload(exp2)
def _exp2(a):
    if a == types.float32:
        return lambda a: _exp2_single(a)
    return lambda a: _exp2_double(a)


@_exact
def _exp2_single(a):
    c0, c1, c2, c3, c4, c5, c6 = _SINGLE
    b = _SINGLE_LOWEST if a < _SINGLE_LOWEST else a
    t = b + _SINGLE_ROUND
    f = b - (t - _SINGLE_ROUND)
    p = (((((c6 * f + c5) * f + c4) * f + c3) * f + c2) * f + c1) * f + c0
    return np.float32(0) if a <= _SINGLE_LOWEST else _shift_exponent(p, t)


@_exact
def _exp2_double(a):
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 = _DOUBLE
    b = _DOUBLE_LOWEST if a < _DOUBLE_LOWEST else a
    t = b + _DOUBLE_ROUND
    f = b - (t - _DOUBLE_ROUND)
    p = ((((c10 * f + c9) * f + c8) * f + c7) * f + c6) * f + c5
    p = ((((p * f + c4) * f + c3) * f + c2) * f + c1) * f + c0
    return 0.0 if a <= _DOUBLE_LOWEST else _shift_exponent(p, t)


@intrinsic
def _shift_exponent(typingctx, p, t):
    """Return p · 2ⁿ where n is the integer in the low mantissa bits of t (n + 1.5·2**mantissa)."""

    def codegen(context, builder, sig, args):
        width, mantissa = (32, 23) if p == types.float32 else (64, 52)
        integer = ir.IntType(width)
        n = builder.shl(builder.bitcast(args[1], integer), ir.Constant(integer, mantissa))
        bits = builder.add(builder.bitcast(args[0], integer), n)
        return builder.bitcast(bits, args[0].type)

    return p(p, t), codegen
