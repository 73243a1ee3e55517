"""What the chip can do at most: exponentials, matrix products, copies.  For bench_gpu.py."""

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # no Triton, no ceiling of exponentials
    triton = None

SIDE = 8192  # of the matrices
COPIED = 2**30  # bytes, several times any cache
LOOPS, UNROLL, BLOCK, PROGRAMS = 2048, 8, 1024, 2112  # 3.5·10¹⁰ exponentials


if triton is not None:

    @triton.jit
    def _exponentials(X, out, LOOPS: tl.constexpr, UNROLL: tl.constexpr, BLOCK: tl.constexpr):
        """Two additions and one special-function instruction for each exponential, no more."""
        rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(X + rows)
        total = tl.zeros_like(x)
        for _ in range(LOOPS):
            for step in tl.static_range(UNROLL):
                total += tl.exp2(x - step / UNROLL)
            x -= 0.0009765625
        tl.store(out + rows, total)


def exponentials(clock):
    """Exponentials per second, by the special-function units alone; the result is checked."""
    if clock.device == "cpu":
        x = -torch.rand(2**22)
        return x.numel() / clock.median(lambda: torch.exp2(x))[0]
    if triton is None:
        raise ImportError("Triton is not installed")
    x = -torch.rand(PROGRAMS * BLOCK, device=clock.device)
    out = torch.full_like(x, float("nan"))

    def run():
        _exponentials[(PROGRAMS,)](x, out, LOOPS, UNROLL, BLOCK, num_warps=4)

    seconds, _ = clock.median(run)
    steps = torch.arange(LOOPS, device=x.device, dtype=torch.float64)[:, None] / 1024
    steps = steps + torch.arange(UNROLL, device=x.device, dtype=torch.float64) / UNROLL
    expected = torch.exp2(x.double()) * torch.exp2(-steps).sum()
    error = float((out.double() / expected - 1).abs().max())
    if not error < 1e-3:  # 16,384 float32 additions one after the other
        raise ArithmeticError(f"the kernel of exponentials is wrong by {error:.1e}")
    return x.numel() * LOOPS * UNROLL / seconds


def product(clock, dtype, setting):
    """Floating-point operations per second of a square matrix product of random numbers."""
    side = 512 if clock.device == "cpu" else SIDE
    A, B = torch.randn(2, side, side, device=clock.device).to(dtype)
    with matmul_precision(setting):
        seconds, _ = clock.median(lambda: A @ B)
    return 2 * side**3 / seconds


def copy(clock):
    """Bytes per second, read and written, of a copy on the device."""
    size = 2**22 if clock.device == "cpu" else COPIED
    source = torch.rand(size // 4, device=clock.device)
    target = torch.empty_like(source)
    seconds, _ = clock.median(lambda: target.copy_(source))
    return 2 * size / seconds


class matmul_precision:  # noqa: N801
    """Float32 products in full ("highest") or in TF32 ("high") inside, in full afterwards."""

    def __init__(self, setting):
        self.setting = setting

    def __enter__(self):
        torch.set_float32_matmul_precision(self.setting)

    def __exit__(self, *_):
        torch.set_float32_matmul_precision("highest")
