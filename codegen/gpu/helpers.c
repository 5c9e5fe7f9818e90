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

static bool has_type(HelperId id) { return strstr(rows[id].text, "$N") != NULL; }

const char *tirc_gpu_helper(Gen *g, HelperId id, DType t) {
  bool known = false;
  for (int i = 0; i < g->helpers.n; i++)
    known = known || (g->helpers.at[i].id == id &&
                      (!has_type(id) || tirc_dtype_equal(g->helpers.at[i].t, t)));
  if (!known && rows[id].needs >= 0) (void)tirc_gpu_helper(g, (HelperId)rows[id].needs, t);
  if (!known) vec_push(g->c, g->helpers, ((Helper){id, t}));
  if (strstr(rows[id].text, "double")) g->uses_double = true;
  if (!has_type(id)) return rows[id].name;
  return tirc_format(g->c, "%s_%s", rows[id].name, tirc_dtype_name(g->c, t));
}

static const char *word(Gen *g, char which, DType t) {
  DType u = t;
  if (u.code == TYPE_INT) u.code = TYPE_UINT;
  switch (which) {
  case 'T': return tirc_gpu_value_type(g, t);
  case 'U': return tirc_gpu_value_type(g, u);
  case 'N': return tirc_dtype_name(g->c, t);
  case 's': return g->l->uints[1];
  case 'u': return g->l->uints[2];
  case 'l': return g->l->uints[3];
  case 'B': return g->l->bits_of_float;
  case 'F': return g->l->float_of_bits;
  default: return g->l->round_half;
  }
}

void tirc_gpu_write_helpers(Gen *g, Text *out) {
  for (int i = 0; i < g->helpers.n; i++) {
    tirc_text_add(out, "\n");
    for (const char *s = rows[g->helpers.at[i].id].text; *s; s++)
      if (*s == '$')
        tirc_text_add(out, word(g, *++s, g->helpers.at[i].t));
      else
        tirc_text_addn(out, s, 1);
  }
}
