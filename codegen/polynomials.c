#include "polynomials.h"

#define POLYNOMIAL(id, ...) static const double c_##id[] = {__VA_ARGS__};
#include "polynomials.def"
#undef POLYNOMIAL

const Polynomial tirc_polynomials[POLYNOMIAL_COUNT] = {
#define POLYNOMIAL(id, ...) {#id, (int)(sizeof c_##id / sizeof *c_##id), c_##id},
#include "polynomials.def"
#undef POLYNOMIAL
};
