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

/* Languages that have such functions need no helpers for them. */
static bool is_needed(const Language *l, int id) {
  return id >= 0 && !(id == HELPER_BITS_TO_FLOAT && l->float_of_bits) &&
         !(id == HELPER_FLOAT_TO_BITS && l->bits_of_float);
}

const char *tirc_src_helper(Gen *g, HelperId id, DType t) {
  bool known = false;
  for (int i = 0; i < g->helpers.n; i++)
    known = known || (g->helpers.at[i].id == id &&
                      (!has_type(id) || tirc_dtype_equal(g->helpers.at[i].t, t)));
  if (!known && is_needed(g->l, rows[id].needs))
    (void)tirc_src_helper(g, (HelperId)rows[id].needs, t);
  if (!known) vec_push(g->c, g->helpers, ((Helper){id, t}));
  if (strstr(rows[id].text, "double")) g->uses_double = true;
  if (!has_type(id)) return rows[id].name;
  return tirc_format(g->c, "%s_%s", rows[id].name, tirc_dtype_name(g->c, t));
}

enum { MOST_MOVED = 16 }; /* bytes that one instruction moves */

/* Those of C take and give a bool as its byte. */
static const char *type_of(Gen *g, DType t) {
  return g->l->family->small_bits ? tirc_src_memory_type(g, t) : tirc_src_value_type(g, t);
}

static const char *word(Gen *g, char which, DType t) {
  const Language *l = g->l;
  const DType one = tirc_dtype_lanes(t, 1);
  const int bytes = tirc_dtype_bytes(one) * t.lanes;
  switch (which) {
  case 'T': return type_of(g, t);
  case 'U': return type_of(g, tirc_src_unsigned(t));
  case 'M': return tirc_src_memory_type(g, one);
  case 'N': return tirc_dtype_name(g->c, t);
  case 'n': return tirc_format(g->c, "%d", t.lanes);
  case 'A': return tirc_format(g->c, "%d", bytes < MOST_MOVED ? bytes : MOST_MOVED);
  case 's': return l->uints[1];
  case 'u': return l->uints[2];
  case 'l': return l->uints[3];
  case 'L': return l->ints[3];
  case 'B': return l->bits_of_float ? l->bits_of_float : rows[HELPER_FLOAT_TO_BITS].name;
  case 'F': return l->float_of_bits ? l->float_of_bits : rows[HELPER_BITS_TO_FLOAT].name;
  case 'q': return l->function;
  case 'h': return l->function_of_both;
  case 'E': return l->end_odd;
  case 'Q': return l->floor_quotient;
  default: return l->round_half;
  }
}

/* $[floor] */
static const char *function_named(Gen *g, const char *s, size_t n, DType t) {
  for (int op = 0; op < OP_COUNT; op++) {
    const char *name = tirc_ops[op].c_form;
    if (name && strlen(name) == n && memcmp(name, s, n) == 0)
      return tirc_src_function(g, (Op)op, t);
  }
  return "";
}

static void write_helper(Gen *g, Text *out, const char *s, DType t) {
  for (; *s; s++) {
    const char *end = strchr(s, ']');
    if (*s != '$') {
      tirc_text_addn(out, s, 1);
    } else if (s[1] == '[' && end) {
      tirc_text_add(out, function_named(g, s + 2, (size_t)(end - s - 2), t));
      s = end;
    } else { /* a word, which may have words */
      const char *text = word(g, *++s, t);
      if (strchr(text, '$'))
        write_helper(g, out, text, t);
      else
        tirc_text_add(out, text);
    }
  }
}

/* A program may include several headers, of which each has what it needs. */
static void begin_once(Gen *g, Text *out, const char *name) {
  tirc_text_add(out, "\n");
  if (g->is_header) tirc_text_addf(out, "#ifndef HAS_%s\n#define HAS_%s\n", name, name);
}

static void end_once(Gen *g, Text *out) {
  if (g->is_header) tirc_text_add(out, "#endif\n");
}

void tirc_src_write_helpers(Gen *g, Text *out) {
  for (int i = 0; i < g->helpers.n; i++) {
    const Helper h = g->helpers.at[i];
    begin_once(g, out, tirc_src_helper(g, h.id, h.t));
    if (*rows[h.id].text)
      write_helper(g, out, rows[h.id].text, h.t);
    else
      g->l->family->write_function(g, out, h.id);
    end_once(g, out);
  }
}

static bool is_called(const char *text, const char *name) {
  const size_t n = strlen(name);
  for (const char *s = text; (s = strstr(s, name)); s += n)
    if (s[n] == '(') return true;
  return false;
}

void tirc_src_write_own(Gen *g, Text *out, const char *text) {
  enum { MOST_OWN = 96 };
  bool is_used[MOST_OWN] = {false}, more = true;
  const OwnText *own = g->l->own;
  while (more) {
    more = false;
    for (int i = 0; own && i < MOST_OWN && own[i].name; i++) {
      bool used = is_called(text, own[i].name);
      for (int j = 0; own[j].name; j++)
        used = used || (is_used[j] && strcmp(own[j].name, own[i].name) != 0 &&
                        is_called(own[j].text, own[i].name));
      more = more || used != is_used[i];
      is_used[i] = used;
    }
  }
  for (int i = 0; own && own[i].name; i++)
    if (is_used[i]) {
      begin_once(g, out, own[i].name);
      tirc_text_add(out, own[i].text);
      end_once(g, out);
    }
}
