/* The functions of helpers.def, written once for each type that needs them. */
#include "gen.h"

static const struct {
  const char *name;
  int needs;
  const char *text;
} rows[HELPER_COUNT] = {
#define HELPER_NONE -1
#define HELPER(id, name, needs, text) {name, HELPER_##needs, text},
#include "helpers.def"
#undef HELPER
};

/* The suffix of the helper's name: those whose text has no $N are for one type only. */
static const char *suffix(CGen *g, HelperId id, DType t) {
  switch (id) {
  case HELPER_SIZE:
  case HELPER_ALLOC: return "bytes";
  case HELPER_BITS_TO_FLOAT:
  case HELPER_FLOAT_TO_BITS:
  case HELPER_ODD_FLOAT: return "float32";
  case HELPER_PAIRS_4: return "int32x4";
  case HELPER_PAIRS_8: return "int32x8";
  case HELPER_PAIRS_16: return "int32x16";
  default: return tirc_dtype_name(g->c, tirc_dtype_lanes(t, 1));
  }
}

static bool has_type(HelperId id) { return strstr(rows[id].text, "$N") != NULL; }

const char *tirc_cg_helper(CGen *g, HelperId id, DType t) {
  t.lanes = 1;
  bool known = false;
  for (int i = 0; i < g->helpers.n; i++)
    known = known || (g->helpers.at[i].id == (int)id &&
                      (!has_type(id) || tirc_dtype_equal(g->helpers.at[i].t, t)));
  if (!known && rows[id].needs >= 0) (void)tirc_cg_helper(g, (HelperId)rows[id].needs, t);
  if (!known) vec_push(g->c, g->helpers, ((Helper){(int)id, t}));
  if (strstr(rows[id].text, "floor(") || strstr(rows[id].text, "pow(") ||
      strstr(rows[id].text, "fabs("))
    g->uses_math = true;
  if (id == HELPER_ALLOC) g->uses_stdlib = true;
  return tirc_format(g->c, "%s_%s", rows[id].name, suffix(g, id, t));
}

void tirc_cg_write_helpers(CGen *g, Text *out) {
  for (int i = 0; i < g->helpers.n; i++) {
    const Helper *h = &g->helpers.at[i];
    DType u = h->t;
    if (u.code == TYPE_INT) u.code = TYPE_UINT;
    tirc_text_add(out, "\n");
    for (const char *s = rows[h->id].text; *s; s++) {
      if (*s != '$') {
        tirc_text_addn(out, s, 1);
        continue;
      }
      s++;
      tirc_text_add(out, *s == 'T'   ? tirc_c_type(h->t)
                         : *s == 'U' ? tirc_c_type(u)
                                     : tirc_dtype_name(g->c, h->t));
    }
  }
}
