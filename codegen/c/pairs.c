/* Pairs of products (codegen/pairs.h), by a helper that is one instruction where the compiler's
 * target has it. */
#include "codegen/pairs.h"
#include "codegen/access.h"
#include "gen.h"

static DType int16_lanes(int n) { return tirc_dtype_lanes(DT(TYPE_INT, 16), n); }

/* 2 n numbers of 16 bits: the pairs of n lanes, from lane k on. */
static const char *operand(Gen *g, const PairOperand *f, int k, int n) {
  const char *all = tirc_cg_vector(g, int16_lanes(1), 2 * n);
  const int64_t first = f->is_same ? 0 : 2 * k;
  const char *at = tirc_cg_element(g, f->buffer, f->index, first);
  if (f->is_same)
    return tirc_format(g->c, "(%s)VSPLAT(%s, %s(&%s))", all, tirc_cg_vector(g, DT_INT32, n),
                       tirc_src_helper(g, HELPER_PAIR, tirc_dtype_lanes(f->buffer->dtype, 1)), at);
  const char *own = tirc_cg_vector(g, f->buffer->dtype, 2 * n);
  const char *load = tirc_format(g->c, "VLOAD(%s, &%s)", own, at);
  if (f->buffer->dtype.bits == 16) return load;
  return tirc_format(g->c, "__builtin_convertvector(%s, %s)", load, all);
}

static int helper_for(int lanes) {
  return lanes == 4    ? HELPER_PAIRS_4
         : lanes == 8  ? HELPER_PAIRS_8
         : lanes == 16 ? HELPER_PAIRS_16
                       : HELPER_COUNT;
}

bool tirc_cg_pair(Gen *g, Stmt first, Stmt second) {
  PairOfProducts p;
  if (!tirc_find_pair(g->c, first, second, g->file->restrict_data, &p)) return false;
  const int n = g->file->what->vector_bytes / 4, helper = helper_for(n);
  if (helper == HELPER_COUNT || p.lanes % n != 0) return false; /* also where n is 0 */
  if (tirc_cg_is_tile(g, p.factors[0].buffer) || tirc_cg_is_tile(g, p.factors[1].buffer))
    return false;
  const char *type = tirc_cg_vector(g, DT_INT32, n),
             *both = tirc_cg_vector(g, int16_lanes(1), 2 * n);
  (void)tirc_cg_vector(g, DT(TYPE_UINT, 32), n); /* the helper's */
  const int mark = g->taken.n;
  const char *x = tirc_src_name(g, "x"), *y = tirc_src_name(g, "y"), *sum = tirc_src_name(g, "sum");
  for (int k = 0; k < p.lanes; k += n) {
    const char *piece = tirc_cg_tile_piece(g, p.sum, p.at, k, n);
    const char *into = piece ? piece : sum;
    tirc_src_open(g, "{");
    tirc_src_line(g, "const %s %s = %s, %s = %s;", both, x, operand(g, &p.factors[0], k, n), y,
                  operand(g, &p.factors[1], k, n));
    const char *at = piece ? NULL : tirc_cg_element(g, p.sum, p.at->args[0], k);
    if (!piece) tirc_src_line(g, "%s %s = VLOAD(%s, &%s);", type, sum, type, at);
    tirc_src_line(g, "%s(&%s, &%s, &%s);", tirc_src_helper(g, (HelperId)helper, DT_INT32), into, x,
                  y);
    if (!piece) tirc_src_line(g, "VSTORE(%s, &%s, %s);", type, at, sum);
    tirc_src_close(g);
  }
  tirc_cg_note_written(g, p.sum);
  g->taken.n = mark;
  return true;
}
