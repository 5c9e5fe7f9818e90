/* The products in a function, as they are told of while it runs. */
#ifndef TIRC_RUNTIME_API_PRODUCTS_H
#define TIRC_RUNTIME_API_PRODUCTS_H

#include "api.h"

/* Those in f, as it was before it was scheduled, with these values of its symbols, or of the
 * scheduled function's: *out in c; gives how many. */
int tirc_api_products(Tirc *c, const Func *f, int n_symbols, const Expr *symbols,
                      const int64_t *known, const tirc_product **out);

#endif
