/* Which ranges of a size get schedules of their own: text becomes an attribute of the functions
 * that have the size, which rules read.
 *
 *   "n=1,4,64-512"    ->    T.func_attr({"sizes": {"n": [1, 4, [64, 512]]}}) */
#include "api.h"

#include "ir/tree/annotations.h"
#include "ir/tree/symbols.h"
#include "passes/lower/lower.h"

#include <errno.h>
#include <stdlib.h>

typedef struct WithSizes {
  const tirc_module *from;
  const char *text;
  Sources sources;
  tirc_module *result;
} WithSizes;

typedef struct Reader {
  Tirc *c;
  const char *all, *at;
  int64_t last; /* the greatest number so far; -1: none */
} Reader;

static _Noreturn void bad(const Reader *r, const char *why) {
  tirc_fail(r->c, (Loc){0}, CODE_ARGUMENT,
            "NAME=1,4,64-512: numbers and ranges in ascending order, apart from each other",
            "sizes %s: %s", r->all, why);
}

static int64_t read_number(Reader *r) {
  char *end;
  if (*r->at < '0' || *r->at > '9') bad(r, "a number is missing");
  errno = 0;
  const long long n = strtoll(r->at, &end, 10);
  if (errno || n > INT32_MAX) bad(r, "a number is too large");
  r->at = end;
  return n;
}

static Expr read_range(Reader *r) {
  Tirc *c = r->c;
  const int64_t least = read_number(r);
  const bool pair = *r->at == '-';
  if (pair) r->at++;
  const int64_t most = pair ? read_number(r) : least;
  if (most < least) bad(r, "a range ends before it begins");
  if (least <= r->last) bad(r, "ranges overlap, or are not in ascending order");
  r->last = most;
  const Expr ends[] = {tirc_int(c, DT_INT64, least), tirc_int(c, DT_INT64, most)};
  return pair ? tirc_expr(c, OP_TUPLE, DT_HANDLE, 2, ends) : ends[0];
}

static Expr read_ranges(Reader *r) {
  VEC(Expr) ranges = {0};
  do vec_push(r->c, ranges, read_range(r));
  while (*r->at == ',' && r->at++);
  if (*r->at) bad(r, "unexpected text follows the ranges");
  return tirc_expr(r->c, OP_TUPLE, DT_HANDLE, ranges.n, ranges.at);
}

static bool has_size(Tirc *c, const Func *f, const char *name) {
  Expr *symbols;
  const int n = tirc_extent_params(c, f, &symbols);
  for (int i = 0; i < n; i++)
    if (!strcmp(symbols[i]->u.s, name)) return true;
  return false;
}

/* Each range of one size is scheduled with each of another. */
static void check_copies(const Reader *r, const Expr *items, int n) {
  enum { MOST_COPIES = 64 };
  int64_t copies = 1;
  for (int i = 0; i < n; i += 2) copies *= items[i + 1]->n;
  if (copies > MOST_COPIES)
    bad(r, "together with the other sizes this makes more than 64 schedules");
}

static const Func *with_ranges(const Reader *r, const Func *f, const char *name, Expr ranges) {
  Tirc *c = r->c;
  const Expr old = tirc_attrs_get(f->attrs, tirc_key(KEY_SIZES));
  const int n_old = old && old->op == OP_DICT ? old->n : 0;
  Expr *items = tirc_new_array(c, Expr, n_old + 2);
  int n = 0;
  for (int i = 0; i + 1 < n_old; i += 2) { /* what is asked later counts */
    if (!strcmp(old->args[i]->u.s, name)) continue;
    items[n++] = old->args[i];
    items[n++] = old->args[i + 1];
  }
  items[n] = tirc_string(c, name);
  items[n + 1] = ranges;
  check_copies(r, items, n + 2);
  Func *to = tirc_copy(c, f, 1);
  to->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_SIZES),
                             tirc_expr(c, OP_DICT, DT_HANDLE, n + 2, items));
  return to;
}

static void set_sizes(Tirc *c, void *self) {
  WithSizes *p = self;
  Reader r = {c, p->text, strchr(p->text, '='), -1};
  if (!r.at || r.at == p->text) bad(&r, "it does not start with NAME=");
  const char *name = tirc_strndup(c, p->text, (size_t)(r.at++ - p->text));
  const Expr ranges = read_ranges(&r);
  const Module *from = p->from->m;
  tirc_context_depend(c, p->from->c);
  Module *m = tirc_copy(c, from, 1);
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs + 1);
  bool found = false;
  for (int i = 0; i < m->n_funcs; i++) {
    const bool has = has_size(c, from->funcs[i], name);
    funcs[i] = has ? with_ranges(&r, from->funcs[i], name, ranges) : from->funcs[i];
    found |= has;
  }
  if (!found) bad(&r, "no function has a symbolic extent of that name");
  m->c = c;
  m->funcs = funcs;
  p->result = tirc_api_module(c, m, &p->sources);
}

tirc_status tirc_module_with_sizes(const tirc_module *m, const char *sizes, tirc_module **out,
                                   tirc_error **error) {
  NEED(m, sizes, out);
  WithSizes p = {.from = m, .text = sizes, .sources = m->sources};
  return tirc_api_make_module(set_sizes, &p, &p.sources, &p.result, out, error);
}

/* --- one of them ------------------------------------------------------------------------------ */

typedef struct ForSizes {
  const tirc_module *from;
  int n;
  const tirc_size_range *at;
  Sources sources;
  tirc_module *result;
} ForSizes;

/* The extent of that name: a symbol, or a scalar, which stays a parameter. NULL: there is none. */
static Expr size_called(Tirc *c, const Func *f, const char *name, bool *is_symbol) {
  Expr *symbols, *all;
  const int n = tirc_symbolic_params(c, f, &symbols), m = tirc_extent_params(c, f, &all);
  for (int i = 0; i < m; i++) {
    if (strcmp(all[i]->u.s, name) != 0) continue;
    *is_symbol = i < n;
    return all[i];
  }
  return NULL;
}

static const Func *for_sizes(Tirc *c, const ForSizes *p, const Func *f, bool *found) {
  PtrMap numbers = {0};
  VEC(Expr) usual = {0};
  bool is_symbol;
  Attrs attrs = tirc_attrs_remove(c, f->attrs, tirc_key(KEY_SIZES));
  for (int i = 0; i < p->n; i++) {
    const tirc_size_range *r = &p->at[i];
    const Expr size = size_called(c, f, r->name, &is_symbol);
    if (!size) continue;
    found[i] = true;
    if (r->least == r->most && is_symbol) {
      tirc_map_set(c, &numbers, size, tirc_int(c, size->dtype, r->least));
      continue;
    }
    vec_push(c, usual, tirc_string(c, r->name));
    vec_push(c, usual, tirc_int(c, DT_INT64, (r->least + r->most + 1) / 2));
  }
  Func *to = tirc_copy(c, tirc_func_with_extents(c, f, &numbers), 1);
  if (usual.n)
    attrs = tirc_attrs_set(c, attrs, tirc_key(KEY_USUAL_SIZES),
                           tirc_expr(c, OP_DICT, DT_HANDLE, usual.n, usual.at));
  to->attrs = attrs;
  return to;
}

static void make_for_sizes(Tirc *c, void *self) {
  ForSizes *p = self;
  const Module *from = p->from->m;
  tirc_context_depend(c, p->from->c);
  Module *m = tirc_copy(c, from, 1);
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs + 1);
  bool *found = tirc_new_array(c, bool, p->n + 1);
  for (int i = 0; i < m->n_funcs; i++) funcs[i] = for_sizes(c, p, from->funcs[i], found);
  for (int i = 0; i < p->n; i++)
    if (!found[i])
      tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "no function has a symbolic extent %s",
                p->at[i].name);
  m->c = c;
  m->funcs = funcs;
  p->result = tirc_api_module(c, m, &p->sources);
}

tirc_status tirc_module_for_sizes(const tirc_module *m, int n, const tirc_size_range *sizes,
                                  tirc_module **out, tirc_error **error) {
  NEED(m, LIST(n, sizes), out);
  ForSizes p = {.from = m, .n = n, .at = sizes, .sources = m->sources};
  return tirc_api_make_module(make_for_sizes, &p, &p.sources, &p.result, out, error);
}

typedef struct AskedSizes {
  const tirc_module *m;
  int n;
  tirc_size_range *out;
} AskedSizes;

/* A number, or a pair. */
static bool read_asked(Expr e, tirc_size_range *out) {
  const bool pair = e->op == OP_TUPLE && e->n == 2;
  return pair ? tirc_const_int(e->args[0], &out->least) && tirc_const_int(e->args[1], &out->most)
              : tirc_const_int(e, &out->least) && tirc_const_int(e, &out->most);
}

static void gather_asked(Tirc *c, void *self) {
  AskedSizes *a = self;
  VEC(tirc_size_range) all = {0};
  const Module *m = a->m->m;
  for (int f = 0; f < m->n_funcs && !all.n; f++) {
    const Expr sizes = tirc_attrs_get(m->funcs[f]->attrs, tirc_key(KEY_SIZES));
    for (int i = 0; sizes && sizes->op == OP_DICT && i + 1 < sizes->n; i += 2)
      for (int k = 0; k < sizes->args[i + 1]->n; k++) {
        tirc_size_range r = {.name = sizes->args[i]->u.s};
        if (read_asked(sizes->args[i + 1]->args[k], &r)) vec_push(c, all, r);
      }
  }
  a->n = all.n;
  a->out = calloc((size_t)all.n + 1, sizeof *a->out);
  if (!a->out) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  for (int i = 0; i < all.n; i++) a->out[i] = all.at[i];
}

tirc_status tirc_module_sizes(const tirc_module *m, int *n, tirc_size_range **out,
                              tirc_error **error) {
  NEED(m, n, out);
  AskedSizes a = {.m = m};
  const tirc_status status = tirc_api_scratch(gather_asked, &a, &m->sources, error);
  if (status != TIRC_OK) return status;
  *n = a.n;
  *out = a.out;
  return TIRC_OK;
}

void tirc_sizes_free(tirc_size_range *sizes) { free(sizes); }
