/* Products of tiles (ir/tree/amx.h): by the compilers' intrinsics where their target has AMX, and
 * otherwise by the loops. A product configures the tiles of its own: tmm0 to tmm3 for two by two of
 * C, tmm4 and tmm5 for A, tmm6 and tmm7 for B.
 *
 *   #if defined __AMX_INT8__
 *     tirc_amx_begin(m, 4 * n, bytes of a step);
 *     _tile_loadd(0, &C[...], stride); for (...) { _tile_loadd(4, ...); ... _tile_dpbusd(0, 4, 6); } _tile_stored(0, ...);
 *   #else
 *     loops
 *   #endif */
#include "ir/tree/amx.h"
#include "gen.h"
#include "ir/tree/c_code.h"

static const struct {
  const char *name, *condition, *function;
} rows[] = {
    {"tdpbssd", "defined __AMX_INT8__", "_tile_dpbssd"},
    {"tdpbsud", "defined __AMX_INT8__", "_tile_dpbsud"},
    {"tdpbusd", "defined __AMX_INT8__", "_tile_dpbusd"},
    {"tdpbuud", "defined __AMX_INT8__", "_tile_dpbuud"},
    {"tdpbf16ps", "defined __AMX_BF16__", "_tile_dpbf16ps"},
    {"tdpfp16ps", "defined __AMX_FP16__", "_tile_dpfp16ps"},
};

/* (const char *)&A[...], and bytes from one row to the next. */
typedef struct Place {
  const char *first, *stride;
} Place;

static Place place_of(Gen *g, Expr first, Expr stride, int bytes) {
  const char *s = tirc_src_index(g, stride, &tirc_src_first).s;
  return (Place){tirc_cg_address(g, first).s, tirc_format(g->c, "%d * (int64_t)(%s)", bytes, s)};
}

enum { FIRST_A = 4, FIRST_B = 6 };

/* "_tile_loadd" or "_tile_stored" of each tile of C. */
static void of_sums(Gen *g, const Amx *x, const char *function, Place c) {
  for (int i = 0; i < tirc_amx_tiles(x->m); i++)
    for (int j = 0; j < tirc_amx_tiles(x->n); j++)
      tirc_src_line(g, "%s(%d, (char *)(%s) + %d * (%s) + %d, %s);", function, AMX_SIDE * i + j,
                    c.first, AMX_ROWS * i, c.stride, AMX_ROW_BYTES * j, c.stride);
}

/* The steps from byte `at` of a row of A to `end`, of `bytes` each. */
static void steps(Gen *g, const Amx *x, const char *function, Place a, Place b, int at, int end,
                  int bytes) {
  if (at == end) return;
  const int mark = g->taken.n;
  const char *k = tirc_src_name(g, "step");
  tirc_src_open(g, "for (int %s = %d; %s < %d; %s += %d) {", k, at, k, end, k, bytes);
  for (int i = 0; i < tirc_amx_tiles(x->m); i++)
    tirc_src_line(g, "_tile_loadd(%d, (const char *)(%s) + %d * (%s) + %s, %s);", FIRST_A + i,
                  a.first, AMX_ROWS * i, a.stride, k, a.stride);
  for (int j = 0; j < tirc_amx_tiles(x->n); j++)
    tirc_src_line(g, "_tile_loadd(%d, (const char *)(%s) + %s / 4 * (%s) + %d, %s);", FIRST_B + j,
                  b.first, k, b.stride, AMX_ROW_BYTES * j, b.stride);
  for (int i = 0; i < tirc_amx_tiles(x->m); i++)
    for (int j = 0; j < tirc_amx_tiles(x->n); j++)
      tirc_src_line(g, "%s(%d, %d, %d);", function, AMX_SIDE * i + j, FIRST_A + i, FIRST_B + j);
  tirc_src_close(g);
  g->taken.n = mark;
}

void tirc_cg_attr(Gen *g, Stmt s) {
  if (tirc_is_c_code(s)) return tirc_cg_instruction(g, s);
  if (!tirc_is_amx(s) || tirc_cg_is_portable(g)) return tirc_src_stmt(g, s->u.attr.body);
  const Amx x = tirc_amx_of(g->c, s);
  size_t row = 0;
  while (strcmp(rows[row].name, x.name) != 0) row++;
  const Place c = place_of(g, x.c.first, x.c.stride, x.c.bytes),
              a = place_of(g, x.a.first, x.a.stride, x.a.bytes),
              b = place_of(g, x.b.first, x.b.stride, x.b.bytes);
  const int all = x.k * x.a.bytes, whole = all / AMX_ROW_BYTES * AMX_ROW_BYTES;
  const char *begin = tirc_src_helper(g, HELPER_AMX_BEGIN, DT_VOID);
  tirc_src_line(g, "#if %s", rows[row].condition);
  tirc_src_open(g, "{");
  tirc_src_line(g, "%s(%d, %d, %d);", begin, x.m, 4 * x.n, whole ? AMX_ROW_BYTES : all);
  of_sums(g, &x, "_tile_loadd", c);
  steps(g, &x, rows[row].function, a, b, 0, whole, AMX_ROW_BYTES);
  if (whole && whole < all) { /* another shape of A and B: C goes by its memory */
    of_sums(g, &x, "_tile_stored", c);
    tirc_src_line(g, "%s(%d, %d, %d);", begin, x.m, 4 * x.n, all - whole);
    of_sums(g, &x, "_tile_loadd", c);
  }
  steps(g, &x, rows[row].function, a, b, whole, all, all - whole ? all - whole : AMX_ROW_BYTES);
  of_sums(g, &x, "_tile_stored", c);
  tirc_src_line(g, "_tile_release();");
  tirc_src_close(g);
  tirc_src_line(g, "#else");
  tirc_src_stmt(g, s->u.attr.body);
  tirc_src_line(g, "#endif");
}
