/* The polynomials by which mathematical functions are written out, in machine code and in source.
 */
#ifndef TIRC_CODEGEN_POLYNOMIALS_H
#define TIRC_CODEGEN_POLYNOMIALS_H

typedef enum PolynomialId {
#define POLYNOMIAL(id, ...) POLYNOMIAL_##id,
#include "polynomials.def"
#undef POLYNOMIAL
  POLYNOMIAL_COUNT
} PolynomialId;
typedef struct Polynomial {
  const char *name; /* "EXP" */
  int n;
  const double *c; /* c[0] + c[1] x + ... */
} Polynomial;
extern const Polynomial tirc_polynomials[POLYNOMIAL_COUNT];

#endif
