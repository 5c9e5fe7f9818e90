/* The products in a function: blocks that sum products of two arrays, a matrix product or a
 * convolution, which is a product whose left matrix is never made. */
#ifndef TIRC_MODULE_PRODUCTS_H
#define TIRC_MODULE_PRODUCTS_H

#include "module.h"

/* out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]; extents in f's variables, each
 * the product of all iterators of its kind. */
typedef struct Product {
  const char *block;
  Expr batch, m, n, k;
  const char *a, *b, *out; /* types of their elements, as they are in memory */
  char layout[3]; /* "NN"; T where the matrix lies the other way round: its rows are the last index
                   */
  bool is_convolution;
  Expr factors[2]; /* the loads of a and b; NULL where the block says itself what it multiplies */
  bool is_plain;   /* sum = sum + a * b from 0 on: no conversion, border or condition, and all
                      iterators begin at 0 */
} Product;

/* The block's body adds a product to what it writes, buf[i] = buf[i] + a * b: a and b, casts looked
 * through. */
bool tirc_sums_products(const Block *b, Expr factors[2]);
/* Whether a block is one. */
bool tirc_product_of(Tirc *c, const Block *b, Product *out);
/* Whether the block says what it multiplies, as one does that is written by hand: the annotation
 * "product". Throws where it says it wrongly. */
bool tirc_told_product(Tirc *c, const Block *b, Loc loc, Product *out);
/* In the order of the text: *out in c. */
int tirc_products(Tirc *c, const Func *f, const Product **out);

#endif
