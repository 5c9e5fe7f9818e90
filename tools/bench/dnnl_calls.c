/* The calls of oneDNN that a program names for itself. Its text runs as a schedule script after
 * onednn.sch, whose functions collect the calls as lists; here they are read. */
#include "dnnl.h"

#include <stdlib.h>
#include <string.h>

static const char prelude[] =
#include "onednn.inc"
    ;
static const char first_words[] =
    "onednn_words = sch.mod[onednn_function].attrs.get(\"onednn\", [])\n"
    "onednn_words = [onednn_words] if isinstance(onednn_words, str) else list(onednn_words)\n";

typedef struct Reading {
  const Case *k;
  tirc_schedule *s;
  tirc_error *e;
  DnnlCalls *out;
} Reading;

/* A name's value; a list, so that a list can be added to it. */
static bool get_list(Reading *r, const char *name, tirc_value *out) {
  const tirc_value script = tirc_script(name), none = tirc_list_of(0, NULL);
  return !tirc_schedule_operator(r->s, "+", &script, &none, out, &r->e) &&
         out->kind == TIRC_KIND_LIST;
}

/* --- the parameters, as lists ----------------------------------------------------------------- */

static bool name_parameter(Reading *r, int i) {
  tirc_value dims[DNNL_DIMS], strides[DNNL_DIMS];
  const tirc_param *p = &r->k->params[i];
  int64_t stride = 1;
  if (!p->is_array || p->ndim > DNNL_DIMS) return true;
  for (int d = p->ndim - 1; d >= 0; d--) {
    dims[d] = tirc_integer(p->shape[d]);
    strides[d] = tirc_integer(stride);
    stride *= p->shape[d];
  }
  const tirc_value array[] = {tirc_integer(i), tirc_list_of(p->ndim, dims),
                              tirc_list_of(p->ndim, strides), tirc_text(p->dtype),
                              tirc_boolean(false)};
  const tirc_value v = tirc_list_of(5, array);
  return !tirc_schedule_set(r->s, p->name, &v, &r->e);
}

/* --- lists as calls --------------------------------------------------------------------------- */

static double as_number(const tirc_value *v) {
  return v->kind == TIRC_KIND_INT ? (double)v->u.i : v->kind == TIRC_KIND_FLOAT ? v->u.f : 0;
}

static int read_integers(const tirc_value *v, int most, int64_t *out) {
  if (v->kind != TIRC_KIND_LIST || v->n > most) return -1;
  for (int64_t i = 0; i < v->n; i++) {
    if (v->u.items[i].kind != TIRC_KIND_INT) return -1;
    out[i] = v->u.items[i].u.i;
  }
  return (int)v->n;
}

static bool read_setting(DnnlCall *c, const char *key, const tirc_value *v) {
  const struct {
    const char *key;
    const char **text;
    int64_t *space;
    float *number;
  } rows[] = {{"algorithm", &c->algorithm, NULL, NULL}, {"activation", &c->activation, NULL, NULL},
              {"kernel", NULL, c->kernel, NULL},        {"strides", NULL, c->strides, NULL},
              {"padding", NULL, c->padding, NULL},      {"dilates", NULL, c->dilates, NULL},
              {"alpha", NULL, NULL, &c->alpha},         {"beta", NULL, NULL, &c->beta},
              {"epsilon", NULL, NULL, &c->epsilon},     {"scale", NULL, NULL, &c->scale}};
  if (strcmp(key, "axis") == 0) c->axis = (int)as_number(v);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].key, key) != 0) continue;
    if (rows[i].text && v->kind == TIRC_KIND_STR) *rows[i].text = v->u.s;
    if (rows[i].number) *rows[i].number = (float)as_number(v);
    if (rows[i].space && read_integers(v, DNNL_DIMS, rows[i].space) < 0) return false;
  }
  return true;
}

/* [which array, extents, strides, type, in any layout] */
static bool read_array(Reading *r, const char *role, const tirc_value *v, DnnlArray *out) {
  if (v->kind != TIRC_KIND_LIST || v->n != 5) return false;
  const tirc_value *at = v->u.items;
  const int64_t number = at[0].kind == TIRC_KIND_INT ? at[0].u.i : r->k->n_params;
  out->role = role;
  out->nd = read_integers(&at[1], DNNL_DIMS, out->dims);
  if (number >= r->k->n_params || -number > r->out->n_scratch || out->nd < 0 ||
      read_integers(&at[2], DNNL_DIMS, out->strides) != out->nd || at[3].kind != TIRC_KIND_STR)
    return false;
  out->data = number < 0 ? r->out->scratch[-number - 1] : tirc_array_data(r->k->args[number].array);
  out->dtype = at[3].u.s;
  out->anyhow = at[4].kind == TIRC_KIND_BOOL && at[4].u.b;
  return true;
}

/* [kind, settings, [[role, array], ...]] */
static bool read_call(Reading *r, const tirc_value *v, DnnlCall *c) {
  if (v->kind != TIRC_KIND_LIST || v->n != 3) return false;
  const tirc_value *settings = &v->u.items[1], *arrays = &v->u.items[2];
  if (v->u.items[0].kind != TIRC_KIND_STR || settings->kind != TIRC_KIND_DICT ||
      arrays->kind != TIRC_KIND_LIST || arrays->n > DNNL_ARRAYS)
    return false;
  c->kind = v->u.items[0].u.s;
  for (int64_t i = 0; i + 1 < settings->n; i += 2)
    if (settings->u.items[i].kind != TIRC_KIND_STR ||
        !read_setting(c, settings->u.items[i].u.s, &settings->u.items[i + 1]))
      return false;
  for (int64_t i = 0; i < arrays->n; i++) {
    const tirc_value *pair = &arrays->u.items[i];
    if (pair->kind != TIRC_KIND_LIST || pair->n != 2 || pair->u.items[0].kind != TIRC_KIND_STR ||
        !read_array(r, pair->u.items[0].u.s, &pair->u.items[1], &c->at[c->n++]))
      return false;
  }
  return true;
}

/* --- arrays in between ------------------------------------------------------------------------ */

static bool make_scratch(Reading *r) {
  tirc_value list;
  if (!get_list(r, "onednn_scratch", &list) || list.n > DNNL_CALLS) return false;
  for (int64_t i = 0; i < list.n; i++) {
    const tirc_value *row = &list.u.items[i];
    enum { ALIGNMENT = 64, WIDEST = 8 };
    if (row->kind != TIRC_KIND_LIST || row->n != 2 || row->u.items[0].kind != TIRC_KIND_INT)
      return false;
    size_t bytes = (size_t)row->u.items[0].u.i * WIDEST;
    void *p = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (!p) return false;
    memset(p, 0, bytes);
    r->out->scratch[r->out->n_scratch++] = p;
  }
  return true;
}

void dnnl_calls_free(DnnlCalls *c) {
  for (int i = 0; i < c->n_scratch; i++) free(c->scratch[i]);
  c->n_scratch = 0;
}

/* --- the program's words ---------------------------------------------------------------------- */

/* A schedule whose scope has the program's words. */
static bool open_words(Reading *r) {
  const tirc_module *m = r->k->program;
  const tirc_value name =
      tirc_text(tirc_module_functions(m) == 1 ? tirc_module_function(m, 0) : "main");
  return !tirc_schedule_new(m, NULL, &r->s, &r->e) &&
         !tirc_schedule_set(r->s, "onednn_function", &name, &r->e) &&
         !tirc_schedule_run(r->s, first_words, strlen(first_words), "onednn", &r->e);
}

bool dnnl_has_words(const Case *k) {
  Reading r = {.k = k};
  tirc_value words = tirc_none();
  bool has = open_words(&r) && get_list(&r, "onednn_words", &words) && words.n > 0;
  tirc_schedule_free(r.s);
  tirc_error_free(r.e);
  return has;
}

static bool run_words(Reading *r) {
  tirc_value words;
  if (!get_list(r, "onednn_words", &words)) return false;
  for (int64_t i = 0; i < words.n; i++) {
    const char *text = words.u.items[i].kind == TIRC_KIND_STR ? words.u.items[i].u.s : "";
    if (tirc_schedule_run(r->s, text, strlen(text), "onednn", &r->e)) return false;
  }
  return true;
}

static bool read_calls(Reading *r) {
  tirc_value calls;
  if (tirc_schedule_run(r->s, prelude, strlen(prelude), "onednn.sch", &r->e)) return false;
  for (int i = 0; i < r->k->n_params; i++)
    if (!name_parameter(r, i)) return false;
  if (!run_words(r) || !make_scratch(r) || !get_list(r, "onednn_calls", &calls) ||
      calls.n > DNNL_CALLS)
    return false;
  for (int64_t i = 0; i < calls.n; i++)
    if (!read_call(r, &calls.u.items[i], &r->out->at[r->out->n++])) return false;
  return true;
}

bool dnnl_calls_of(const Case *k, tirc_schedule **words, DnnlCalls *out, const char **why) {
  Reading r = {.k = k, .out = out};
  *out = (DnnlCalls){0};
  bool ok = open_words(&r) && read_calls(&r);
  *why = "what its attribute \"onednn\" says is not a list of calls";
  if (r.e) report(r.e);
  if (ok && out->n) {
    *words = r.s;
    return true;
  }
  dnnl_calls_free(out);
  tirc_schedule_free(r.s);
  return false;
}
