"""Register-blocked loops for the compiled CPU backend, written once in LLVM's portable form.

ROWS rows of X against VECTORS vectors of Y stay in registers while the loop runs over the
features, so the machine does arithmetic instead of loading: a matrix product done this way
runs at the speed of a good BLAS, without its threads, and sums of squared differences at
two thirds of that.  LLVM turns the vectors into whatever the machine has.
"""

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS = 4  # rows of X that one call handles


def _vector_bits() -> int:
    """Width of the machine's vector registers."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 512
    return 256 if features.get("avx") else 128


VECTORS = 2 if _vector_bits() >= 256 else 4
PANEL_BYTES = VECTORS * _vector_bits() // 8  # columns of Y in a panel = PANEL_BYTES // itemsize

_FUSED = ("contract",)  # let LLVM fuse a multiplication and an addition where the machine can


@intrinsic
def lesser(typingctx, a, b):
    """Return the lesser of two numbers, none of them NaN; its loops become vector code."""
    flags = ("nnan", "nsz")

    def codegen(context, builder, sig, args):
        is_less = builder.fcmp_ordered("<", *args, flags=flags)
        return builder.select(is_less, *args, flags=flags)

    return a(a, b), codegen


@intrinsic
def panel_dots(typingctx, x, x_at, y, y_at, k, out, out_at, ld, add):
    """Compute dot products of ROWS packed rows with a panel of columns over `k` features.

    x[x_at:] holds the rows as (k, ROWS), y[y_at:] the panel as (k, panel width); row r is written
    to out[out_at + r·ld:], or added to what is there when `add` is true.
    """

    def term(b, x, y, acc):
        return b.fadd(b.fmul(x, y, flags=_FUSED), acc, flags=_FUSED)

    return _panel(term, x, y, out)


@intrinsic
def panel_squares(typingctx, x, x_at, y, y_at, k, out, out_at, ld, add):
    """Sum squared differences; the arguments are those of `panel_dots`."""

    def term(b, x, y, acc):
        difference = b.fsub(x, y)
        return b.fadd(b.fmul(difference, difference, flags=_FUSED), acc, flags=_FUSED)

    return _panel(term, x, y, out)


def _panel(term, x_type, y_type, out_type):
    """Signature and code of a panel loop whose inner step is `term`."""
    intp = types.intp
    signature = types.void(x_type, intp, y_type, intp, intp, out_type, intp, intp, types.boolean)

    def codegen(context, builder, sig, args):
        x, x_at, y, y_at, k, out, out_at, ld, add = args
        scalar = context.get_value_type(x_type.dtype)
        itemsize = x_type.dtype.bitwidth // 8
        lanes = PANEL_BYTES // VECTORS // itemsize
        vector = ir.VectorType(scalar, lanes)
        index = k.type

        def start(array_type, array, offset):
            return builder.gep(
                context.make_array(array_type)(context, builder, array).data, [offset]
            )

        def load(pointer, offset):
            where = builder.bitcast(builder.gep(pointer, [offset]), vector.as_pointer())
            return builder.load(where, align=itemsize)

        def broadcast(value):
            undefined = ir.Constant(vector, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
            return builder.shuffle_vector(first, undefined, mask)

        x, y, out = start(x_type, x, x_at), start(y_type, y, y_at), start(out_type, out, out_at)
        zero = ir.Constant(vector, [0.0] * lanes)
        cells = [(row, v) for row in range(ROWS) for v in range(VECTORS)]
        sums = {cell: cgutils.alloca_once(builder, vector) for cell in cells}  # become registers
        for cell in cells:
            builder.store(zero, sums[cell])
        with cgutils.for_range(builder, k) as loop:
            y_row = builder.gep(y, [builder.mul(loop.index, ir.Constant(index, VECTORS * lanes))])
            x_row = builder.gep(x, [builder.mul(loop.index, ir.Constant(index, ROWS))])
            columns = [load(y_row, ir.Constant(index, v * lanes)) for v in range(VECTORS)]
            for row in range(ROWS):
                value = broadcast(builder.load(builder.gep(x_row, [ir.Constant(index, row)])))
                for v in range(VECTORS):
                    cell = sums[row, v]
                    builder.store(term(builder, value, columns[v], builder.load(cell)), cell)
        for row, v in cells:
            offset = builder.add(
                builder.mul(ir.Constant(index, row), ld), ir.Constant(index, v * lanes)
            )
            total = builder.load(sums[row, v])
            before = builder.select(add, load(out, offset), zero)
            where = builder.bitcast(builder.gep(out, [offset]), vector.as_pointer())
            builder.store(builder.fadd(total, before), where, align=itemsize)
        return context.get_dummy_value()

    return signature, codegen
