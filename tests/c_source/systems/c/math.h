/* What C's own header declares, as far as emitted C may use it. */
#ifndef SYSTEMS_MATH_H
#define SYSTEMS_MATH_H
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define ONE(name) double name(double); float name##f(float);
#define TWO(name) double name(double, double); float name##f(float, float);
ONE(acos) ONE(acosh) ONE(asin) ONE(asinh) ONE(atan) ONE(atanh) ONE(ceil) ONE(cos) ONE(cosh) ONE(erf) ONE(exp) ONE(exp2)
ONE(fabs) ONE(floor) ONE(log) ONE(log1p) ONE(log2) ONE(log10) ONE(nearbyint) ONE(rint) ONE(round) ONE(sin) ONE(sinh) ONE(sqrt)
ONE(tan) ONE(tanh) ONE(trunc)
TWO(atan2) TWO(copysign) TWO(fmax) TWO(fmin) TWO(fmod) TWO(hypot) TWO(nextafter) TWO(pow)
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#endif
