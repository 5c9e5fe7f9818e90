#include "mma.h"

static Expr n(Tirc *c, int64_t v) { return tirc_int32(c, v); }
static Expr div_of(Tirc *c, Expr x, int64_t by) { return tirc_floordiv(c, x, n(c, by)); }
static Expr mod_of(Tirc *c, Expr x, int64_t by) { return tirc_floormod(c, x, n(c, by)); }
static Expr times(Tirc *c, Expr x, int64_t by) { return tirc_mul(c, x, n(c, by)); }

Expr tirc_mma_element(Tirc *c, Expr lane, Expr i) {
  Expr row = tirc_add(c, div_of(c, lane, 4), times(c, mod_of(c, div_of(c, i, 2), 2), 8));
  Expr column = tirc_add(c, times(c, mod_of(c, lane, 4), 2),
                         tirc_add(c, mod_of(c, i, 2), times(c, div_of(c, i, 4), 8)));
  return tirc_add(c, times(c, row, 16), column);
}

Expr tirc_mma_owner(Tirc *c, Expr element, int64_t width) {
  Expr row = mod_of(c, div_of(c, element, width), 8), column = mod_of(c, element, 8);
  return tirc_add(c, times(c, row, 4), div_of(c, column, 2));
}

Expr tirc_mma_register(Tirc *c, Expr element, int64_t width) {
  Expr row = div_of(c, element, width), column = mod_of(c, element, width);
  Expr tile = tirc_add(c, times(c, div_of(c, row, 16), width / 16), div_of(c, column, 16));
  Expr below = mod_of(c, div_of(c, row, 8), 2), right = mod_of(c, div_of(c, column, 8), 2);
  Expr i = tirc_add(c, tirc_add(c, times(c, right, 4), times(c, below, 2)), mod_of(c, column, 2));
  return tirc_add(c, times(c, tile, 8), i);
}

Expr tirc_ldmatrix_row(Tirc *c, Expr lane, Expr stride, bool is_b, bool trans, int chunk) {
  Expr square = div_of(c, lane, 8), low = mod_of(c, square, 2), high = div_of(c, square, 2);
  const bool down_first = is_b == trans; /* the second square is below the first one */
  Expr row = tirc_add(c, mod_of(c, lane, 8), times(c, down_first ? low : high, 8));
  Expr column = times(c, down_first ? high : low, chunk);
  return tirc_add(c, tirc_mul(c, row, stride), column);
}
