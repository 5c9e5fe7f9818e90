#!/usr/bin/env python3
"""The polynomials of vector_math.c: fits with the least largest error, by Remez's exchange.

    minimax.py [NAME]

prints, for each row of the table, the coefficients as floats (or doubles) and the largest error that
is left, as a power of two, relative to the function. All is computed in 50 digits.
"""
import math
import struct
import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 50
LN2, LN10 = D(2).ln(), D(10).ln()


def power(x, n):
    return x ** n if n else D(1)


def series(x, first, ratio):
    """first + first ratio(1) + first ratio(1) ratio(2) + ..., as long as it matters"""
    total, term, i = D(0), first, 1
    while abs(term) > D(10) ** -48:
        total += term
        term *= ratio(i)
        i += 1
    return total


def expm1(x):
    return series(x, x, lambda i: x / (i + 1))


def log1p_over(x):
    """log(1 + x) / x"""
    if abs(x) > D("0.05"):
        return (1 + x).ln() / x
    return sum(power(-x, i) / (i + 1) for i in range(45))


def sin_rest(z):
    """(sin(r) - r) / r^3 of z = r^2"""
    return series(z, D(-1) / 6, lambda i: -z / ((2 * i + 2) * (2 * i + 3)))


def cos_rest(z):
    """(cos(r) - 1 + r^2 / 2) / r^4 of z = r^2"""
    return series(z, D(1) / 24, lambda i: -z / ((2 * i + 3) * (2 * i + 4)))


def atanh_over(z):
    """2 / ln 2 times atanh(s) / s of z = s^2"""
    return 2 / LN2 * sum(power(z, i) / (2 * i + 1) for i in range(45))


def over(x, f, at_zero):
    return f(x) / x if x else at_zero


R2 = D(2).sqrt()
# name, type, terms, ends, the function, what its error is multiplied by to be relative
ROWS = {
    # log(1 + x) = x + x^2 P(x)
    "log": ("f", 9, 1 / R2 - 1, R2 - 1,
            lambda x: over(x, lambda x: log1p_over(x) - 1, D("-0.5")), lambda x: x / log1p_over(x)),
    # log2(1 + x) = x + x P(x)
    "log2": ("f", 10, 1 / R2 - 1, R2 - 1, lambda x: log1p_over(x) / LN2 - 1, lambda x: LN2 / log1p_over(x)),
    # log10(1 + x) = x / 2 + x P(x)
    "log10": ("f", 10, 1 / R2 - 1, R2 - 1, lambda x: log1p_over(x) / LN10 - D("0.5"), lambda x: LN10 / log1p_over(x)),
    # 10^x = 1 + x P(x)
    "exp10": ("f", 6, D("-0.151"), D("0.151"), lambda x: over(x, lambda x: expm1(x * LN10), LN10),
              lambda x: x / (expm1(x * LN10) + 1)),
    # 2^x = 1 + x P(x)
    "exp2": ("f", 6, D("-0.501"), D("0.501"), lambda x: over(x, lambda x: expm1(x * LN2), LN2),
             lambda x: x / (expm1(x * LN2) + 1)),
    # 1 - e^-2r = 2 r + r^2 P(r)
    "tanh": ("f", 6, D("-0.174"), D("0.174"), lambda x: over(x, lambda x: (-expm1(-2 * x) - 2 * x) / x, D(-2)) if x else D(-2),
             lambda x: x * x / -expm1(-2 * x) if x else D(0)),
    # sin(r) = r + r z P(z), cos(r) = 1 + z (-1/2 + z P(z)), z = r^2
    "sin": ("f", 4, D(0), D("0.801") ** 2, sin_rest, lambda z: z / (1 + z * sin_rest(z))),
    "cos": ("f", 3, D(0), D("0.801") ** 2, cos_rest, lambda z: z * z / (1 + z * (D("-0.5") + z * cos_rest(z)))),
    # log2((1 + s) / (1 - s)) = s P(s^2), in double precision
    "pow_log2": ("d", 5, D(0), ((R2 - 1) / (R2 + 1)) ** 2 * D("1.0001"), atanh_over, lambda z: 1 / atanh_over(z)),
    # 2^x in double precision
    "pow_exp2": ("d", 8, D("-0.5001"), D("0.5001"), lambda x: expm1(x * LN2) + 1, lambda x: 1 / (expm1(x * LN2) + 1)),
}


def solve(a, b):
    n = len(b)
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
        for r in range(i + 1, n):
            k = a[r][i] / a[i][i]
            for c in range(i, n):
                a[r][c] -= k * a[i][c]
            b[r] -= k * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][c] * b[c] for c in range(i + 1, n))) / a[i][i]
    return b


def value(c, x):
    r = D(0)
    for k in reversed(c):
        r = r * x + k
    return r


def rounded(x, code):
    return D(struct.unpack(code, struct.pack(code, float(x)))[0])


def fit(code, n, lo, hi, f, weight, points=800):
    """The coefficients, rounded, and the largest error with them."""
    grid = [x for x in (lo + (hi - lo) * D(i) / points for i in range(points + 1)) if weight(x)]
    points = len(grid) - 1
    fs, ws = [f(x) for x in grid], [abs(weight(x)) for x in grid]
    at = [round(points * (1 - math.cos(math.pi * (i + 0.5) / (n + 1))) / 2) for i in range(n + 1)]
    for _ in range(30):
        rows = [[ws[p] * power(grid[p], j) for j in range(n)] + [D((-1) ** i)] for i, p in enumerate(at)]
        c = solve(rows, [ws[p] * fs[p] for p in at])[:n]
        error = [ws[p] * (value(c, grid[p]) - fs[p]) for p in range(points + 1)]
        peaks = []
        for p in range(points + 1):  # the largest of each run of one sign
            if peaks and (error[p] > 0) == (error[peaks[-1]] > 0):
                if abs(error[p]) > abs(error[peaks[-1]]):
                    peaks[-1] = p
            else:
                peaks.append(p)
        while len(peaks) > n + 1:
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        if len(peaks) < n + 1 or peaks == at:
            break
        at = peaks
    c = [rounded(x, code) for x in c]
    return c, max(abs(w * (value(c, x) - y)) for x, y, w in zip(grid, fs, ws))


for name, (code, terms, lo, hi, f, weight) in ROWS.items():
    if len(sys.argv) > 1 and name not in sys.argv[1:]:
        continue
    c, worst = fit(code, terms, lo, hi, f, weight)
    print(f"{name}: 2^{float(worst.ln() / LN2):.2f}\n  {{{', '.join(repr(float(x)) for x in c)}}}")
