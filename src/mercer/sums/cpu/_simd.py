"""Register-blocked loops for the compiled CPU backend, written once in LLVM's portable form.

ROWS rows of X against VECTORS vectors of Y stay in registers while the loop runs over the
features, so the machine does arithmetic instead of loading: a matrix product done this way
runs at the speed of a good BLAS, without its threads, and sums of squared or absolute differences
at two thirds of that.  LLVM turns the vectors into whatever the machine has.
"""

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def _registers():
    """Width in bits, and number, of the machine's vector registers."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 512, 32
    if features.get("avx"):
        return 256, 16
    return 128, 32 if features.get("neon") else 16


_BITS, _NUMBER = _registers()
ROWS = 4  # with so many rows and vectors, the sums and their operands fill the registers
VECTORS = 4 if _NUMBER == 32 else 2
PANEL_BYTES = VECTORS * _BITS // 8  # columns of Y in a panel = PANEL_BYTES // itemsize

_FUSED = ("contract",)  # let LLVM fuse a multiplication and an addition where the machine can


@intrinsic
def window(typingctx, array, start, size):
    """Return array[start : start + size] of a vector without counting a reference to it.

    A slice would: two atomic operations on a counter that all threads share.
    """
    signature = array(array, types.intp, types.intp)

    def codegen(context, builder, sig, args):
        whole = context.make_array(array)(context, builder, args[0])
        part = context.make_array(array)(context, builder)
        populate_array(
            part,
            data=builder.gep(whole.data, [args[1]]),
            shape=[args[2]],
            strides=[whole.itemsize],
            itemsize=whole.itemsize,
            meminfo=None,
        )
        return part._getvalue()

    return signature, codegen


@intrinsic
def lesser(typingctx, a, b):
    """Return the lesser of two numbers, none of them NaN; its loops become vector code."""
    flags = ("nnan", "nsz")

    def codegen(context, builder, sig, args):
        is_less = builder.fcmp_ordered("<", *args, flags=flags)
        return builder.select(is_less, *args, flags=flags)

    return a(a, b), codegen


@intrinsic
def panel_products(typingctx, x, x_at, y, y_at, k, out, out_at, ld, add, finish):
    """Add up products of ROWS packed rows with a panel of columns over `k` features.

    x[x_at:] holds the rows as (k, ROWS), y[y_at:] the panel as (k, panel width).  Row r is
    written to out[out_at + r·ld:]; with `add` it is added to what is there.  With `finish`, x
    and y hold one more number, a norm, after the features, and both are added.
    """

    def term(b, x, y, acc):
        return b.fadd(b.fmul(x, y, flags=_FUSED), acc, flags=_FUSED)

    return _panel(term, x, y, out)


@intrinsic
def panel_squares(typingctx, x, x_at, y, y_at, k, out, out_at, ld, add, finish):
    """Add up squared differences; the arguments are those of `panel_products`."""

    def term(b, x, y, acc):
        difference = b.fsub(x, y)
        return b.fadd(b.fmul(difference, difference, flags=_FUSED), acc, flags=_FUSED)

    return _panel(term, x, y, out)


@intrinsic
def panel_absolutes(typingctx, x, x_at, y, y_at, k, out, out_at, ld, add, finish):
    """Add up absolute differences; the arguments are those of `panel_products`."""

    def term(b, x, y, acc):
        return b.fadd(_absolute(b, b.fsub(x, y)), acc)

    return _panel(term, x, y, out)


def _absolute(builder, vector):
    """Return |vector|: LLVM has an instruction for it, which llvmlite knows of numbers only."""
    kind = "f32" if isinstance(vector.type.element, ir.FloatType) else "f64"
    name = f"llvm.fabs.v{vector.type.count}{kind}"
    function = ir.FunctionType(vector.type, [vector.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [vector])


def _panel(term, x_type, y_type, out_type):
    """Signature and code of a panel loop whose inner step is `term`."""
    intp, boolean = types.intp, types.boolean
    signature = types.void(x_type, intp, y_type, intp, intp, out_type, intp, intp, boolean, boolean)

    def codegen(context, builder, sig, args):
        x, x_at, y, y_at, k, out, out_at, ld, add, finish = args
        itemsize = x_type.dtype.bitwidth // 8
        lanes = PANEL_BYTES // VECTORS // itemsize
        vector = ir.VectorType(context.get_value_type(x_type.dtype), lanes)
        cells = [(row, v) for row in range(ROWS) for v in range(VECTORS)]

        def constant(value):
            return ir.Constant(k.type, value)

        def start(array_type, array, offset):
            data = context.make_array(array_type)(context, builder, array).data
            return builder.gep(data, [offset])

        def vector_at(pointer, offset):
            return builder.bitcast(builder.gep(pointer, [offset]), vector.as_pointer())

        def load_columns(feature):
            """Load the panel's numbers of one feature."""
            row = builder.mul(feature, constant(VECTORS * lanes))
            places = [builder.add(row, constant(v * lanes)) for v in range(VECTORS)]
            return [builder.load(vector_at(y, place), align=itemsize) for place in places]

        def broadcast_row(feature, row):
            """Fill a vector with one row's number of one feature."""
            place = builder.add(builder.mul(feature, constant(ROWS)), constant(row))
            value = builder.load(builder.gep(x, [place]))
            undefined = ir.Constant(vector, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
            return builder.shuffle_vector(first, undefined, mask)

        def update(cell, value):
            builder.store(value, sums[cell])

        x, y, out = start(x_type, x, x_at), start(y_type, y, y_at), start(out_type, out, out_at)
        sums = {cell: cgutils.alloca_once(builder, vector) for cell in cells}  # become registers
        targets = {}
        for row, v in cells:
            update((row, v), ir.Constant(vector, [0.0] * lanes))
            place = builder.add(builder.mul(constant(row), ld), constant(v * lanes))
            targets[row, v] = vector_at(out, place)
        with cgutils.for_range(builder, k) as loop:
            columns = load_columns(loop.index)
            for row in range(ROWS):
                value = broadcast_row(loop.index, row)
                for v in range(VECTORS):
                    total = builder.load(sums[row, v])
                    update((row, v), term(builder, value, columns[v], total))
        with builder.if_then(add):
            for cell in cells:
                before = builder.load(targets[cell], align=itemsize)
                update(cell, builder.fadd(builder.load(sums[cell]), before))
        with builder.if_then(finish):
            norms = load_columns(k)
            for row in range(ROWS):
                value = broadcast_row(k, row)
                for v in range(VECTORS):
                    total = builder.load(sums[row, v])
                    update((row, v), builder.fadd(total, builder.fadd(value, norms[v])))
        for cell in cells:
            builder.store(builder.load(sums[cell]), targets[cell], align=itemsize)
        return context.get_dummy_value()

    return signature, codegen
