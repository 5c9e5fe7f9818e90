/* What was counted, as a dict: the names are those of the published counts. */
#include "spatial.h"

#include <math.h>

enum { USUAL_ENUMERATE = 4000000, USUAL_MOST = 200000000 };

typedef struct Report {
  Tirc *c;
  const Mapping *m;
  const ArraySpec *spec;
  const Counts *k;
  Value out;
} Report;

void tirc_dict_put(Tirc *c, Value dict, const char *key, Value v) {
  tirc_value_append(c, dict, tirc_value_str(key));
  tirc_value_append(c, dict, v);
}

const Value *tirc_dict_find(Value dict, const char *key) {
  for (int i = 0; i + 1 < dict.u.list->n; i += 2)
    if (!strcmp(dict.u.list->at[i].u.s, key)) return &dict.u.list->at[i + 1];
  return NULL;
}

static Value dict_of(Tirc *c) { return tirc_value_list(c, VAL_DICT, 0, NULL); }

/* A greatest count that is unknown is left out. */
static void put_count(Tirc *c, Value dict, const char *key, int64_t v) {
  if (v >= 0) tirc_dict_put(c, dict, key, tirc_value_int(v));
}

/* To so many digits behind the point. */
static double rounded(long double x, int digits) {
  long double unit = 1;
  for (int i = 0; i < digits; i++) unit *= 10;
  return (double)(roundl(x * unit) / unit);
}

static double ratio(int64_t a, int64_t b) {
  return b ? rounded((long double)a / (long double)b, 6) : 0;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static Value tensor_report(Report *r, const TensorCount *x) {
  Tirc *c = r->c;
  const Value out = dict_of(c);
  tirc_dict_put(c, out, "total", tirc_value_int(x->total));
  tirc_dict_put(c, out, "unique", tirc_value_int(x->unique));
  tirc_dict_put(c, out, "own_only", tirc_value_int(x->own_only));
  tirc_dict_put(c, out, "spatial", tirc_value_int(x->spatial));
  tirc_dict_put(c, out, "distinct", tirc_value_int(x->distinct));
  put_count(c, out, "peak", x->peak);
  if (x->unique)
    tirc_dict_put(c, out, "reuse_factor", tirc_value_float(ratio(x->total, x->unique)));
  tirc_dict_put(c, out, "temporal_reuse",
                tirc_value_float(ratio(x->total - x->own_only, r->k->instances)));
  tirc_dict_put(c, out, "spatial_reuse", tirc_value_float(ratio(x->spatial, r->k->instances)));
  return out;
}

static void put_tensors(Report *r) {
  Tirc *c = r->c;
  const Value all = dict_of(c);
  for (int i = 0; i < r->m->n_tensors; i++) {
    const MapTensor *t = &r->m->tensors[i];
    tirc_dict_put(c, all, tirc_format(c, "%s %s", t->write ? "write" : "read", t->buffer->name),
                  tensor_report(r, &r->k->tensors[i]));
  }
  tirc_dict_put(c, r->out, "tensors", all);
}

/* --- what follows from the counts --------------------------------------------------------------- */

typedef struct Moved {
  int64_t in, out, every; /* items from outside, to outside, and all accesses */
} Moved;

static Moved moved(const Report *r) {
  Moved n = {0};
  for (int i = 0; i < r->m->n_tensors; i++) {
    *(r->m->tensors[i].write ? &n.out : &n.in) += r->k->tensors[i].unique;
    n.every += r->k->tensors[i].total;
  }
  return n;
}

int64_t tirc_bits_delay(const ArraySpec *spec, __int128 bits) {
  return (int64_t)(bits / spec->bandwidth) + spec->latency - 1;
}

int64_t tirc_array_delay(const ArraySpec *spec, int64_t items) {
  return tirc_bits_delay(spec, (__int128)items * spec->item_bits);
}

static double energy(const ArraySpec *spec, int64_t instances, Moved n) {
  const long double outside = (long double)(n.in + n.out);
  return rounded(spec->mac * (long double)instances +
                     ((long double)spec->l1_read + spec->l1_write) * (long double)n.every +
                     ((long double)spec->l2_read + spec->l2_write) * outside,
                 2);
}

static void put_bound(Report *r, const char *key, int64_t compute, int64_t in, int64_t out) {
  const char *binds = compute >= in && compute >= out ? "compute"
                      : in >= out                     ? "ingress"
                                                      : "egress";
  tirc_dict_put(r->c, r->out, key, tirc_value_str(binds));
}

static int64_t largest(int64_t a, int64_t b, int64_t c) {
  const int64_t most = a > b ? a : b;
  return most > c ? most : c;
}

static void put_derived(Report *r) {
  Tirc *c = r->c;
  const ArraySpec *spec = r->spec;
  const Moved n = moved(r);
  const int64_t compute = r->k->pes_used ? r->k->instances / r->k->pes_used : 0;
  const int64_t in = tirc_array_delay(spec, n.in), out = tirc_array_delay(spec, n.out);
  tirc_dict_put(c, r->out, "ingress_items", tirc_value_int(n.in));
  tirc_dict_put(c, r->out, "egress_items", tirc_value_int(n.out));
  tirc_dict_put(c, r->out, "compute_delay", tirc_value_int(compute));
  tirc_dict_put(c, r->out, "ingress_delay", tirc_value_int(in));
  tirc_dict_put(c, r->out, "egress_delay", tirc_value_int(out));
  tirc_dict_put(c, r->out, "latency", tirc_value_int(largest(compute, in, out)));
  put_bound(r, "binds", compute, in, out);
  tirc_dict_put(c, r->out, "l1_reads", tirc_value_int(n.every));
  tirc_dict_put(c, r->out, "l1_writes", tirc_value_int(n.every));
  tirc_dict_put(c, r->out, "l2_reads", tirc_value_int(n.in + n.out));
  tirc_dict_put(c, r->out, "l2_writes", tirc_value_int(n.in + n.out));
  tirc_dict_put(c, r->out, "energy", tirc_value_float(energy(spec, r->k->instances, n)));
  put_count(c, r->out, "peak_ingress", r->k->peak_ingress);
  put_count(c, r->out, "peak_egress", r->k->peak_egress);
  /* Beside the published figures: elements that wait for the slowest, and an array that is filled
   * and drained fold by fold. */
  const int64_t filled = r->k->busy + spec->dims[0] * r->k->folds;
  tirc_dict_put(c, r->out, "folds", tirc_value_int(r->k->folds));
  tirc_dict_put(c, r->out, "busy_latency", tirc_value_int(largest(r->k->busy, in, out)));
  put_bound(r, "busy_binds", r->k->busy, in, out);
  tirc_dict_put(c, r->out, "filled_and_drained", tirc_value_int(filled));
}

/* --- formulas --------------------------------------------------------------------------------- */

static const char *formula_text(const Report *r, const Formula *f) {
  Text t = {.c = r->c};
  if (!f->n) return "0";
  for (int i = 0; i < f->n; i++) {
    const Monomial *m = &f->at[i];
    const int64_t above = m->above < 0 ? -m->above : m->above;
    const char *sign = m->above < 0 ? (i ? " - " : "-") : i ? " + " : "";
    tirc_text_add(&t, sign);
    bool first = above == 1 && m->extents;
    if (!first) tirc_text_addf(&t, "%lld", (long long)above);
    for (int k = 0; k < r->m->n_iters; k++) {
      if (!(m->extents >> k & 1)) continue;
      tirc_text_addf(&t, "%s%s", first ? "" : "*", r->m->iters[k].name);
      first = false;
    }
    if (m->below != 1) tirc_text_addf(&t, "/%lld", (long long)m->below);
  }
  return t.at;
}

/* Which sizes they are of: "vi = 8*n from 16 on". */
static const char *validity_text(const Report *r, const Exactly *e) {
  Text t = {.c = r->c};
  for (int i = 0; i < r->m->n_iters; i++) {
    const MapIter *it = &r->m->iters[i];
    const long long rest = (long long)(it->unit ? it->extent % it->unit : 0);
    tirc_text_add(&t, i ? ", " : "");
    if (!e->least[i])
      tirc_text_addf(&t, "%s = %lld", it->name, (long long)it->extent);
    else if (it->unit == 1)
      tirc_text_addf(&t, "%s >= %lld", it->name, (long long)e->least[i]);
    else
      tirc_text_addf(&t, "%s %% %lld = %lld, %s >= %lld", it->name, (long long)it->unit, rest,
                     it->name, (long long)e->least[i]);
  }
  return t.at;
}

static void put_formulas(Report *r, const Exactly *e) {
  static const char *const names[] = {"instances",  "time_stamps", "pes_used",
                                      "space_time", "busy",        "folds"};
  static const char *const parts[] = {"total", "unique", "own_only", "spatial", "distinct"};
  Tirc *c = r->c;
  const Value all = dict_of(c);
  if (!e->formulas) return;
  for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
    tirc_dict_put(c, all, names[i], tirc_value_str(formula_text(r, &e->formulas[i])));
  for (int t = 0; t < r->m->n_tensors; t++) {
    const MapTensor *is = &r->m->tensors[t];
    for (int i = 0; i < STEADY_OF_TENSOR; i++)
      tirc_dict_put(
          c, all,
          tirc_format(c, "%s(%s %s)", parts[i], is->write ? "write" : "read", is->buffer->name),
          tirc_value_str(formula_text(r, &e->formulas[STEADY + t * STEADY_OF_TENSOR + i])));
  }
  tirc_dict_put(c, r->out, "formulas", all);
  tirc_dict_put(c, r->out, "formulas_hold", tirc_value_str(validity_text(r, e)));
}

/* Which ground the counts of large sizes stand on. */
static const char *how_text(Tirc *c, const Exactly *e) {
  if (!e->interpolated) return "counted one by one";
  const char *of = tirc_format(c, "interpolated from %d small mappings of %lld instances", e->small,
                               (long long)e->work);
  if (e->proved) return tirc_format(c, "%s (each step of a long loop is proved to repeat)", of);
  return tirc_format(c, "%s (not proved: %d further size%s agree%s)", of, e->guards,
                     e->guards == 1 ? "" : "s", e->guards == 1 ? "s" : "");
}

/* Where it is not known, it is not there. */
static void put_once(Report *r, const Func *f) {
  const OneToOne o = tirc_mapping_once(r->m, f);
  if (o.once != ONCE_UNKNOWN)
    tirc_dict_put(r->c, r->out, "one_to_one", tirc_value_bool(o.once == ONCE_YES));
  if (o.example) tirc_dict_put(r->c, r->out, "runs_twice", tirc_value_str(o.example));
}

static void put_how(Report *r, const Exactly *e) {
  Tirc *c = r->c;
  tirc_dict_put(c, r->out, "how", tirc_value_str(how_text(c, e)));
  if (e->interpolated) tirc_dict_put(c, r->out, "proved", tirc_value_bool(e->proved));
  tirc_dict_put(c, r->out, "links", tirc_value_str(r->spec->links));
  tirc_dict_put(c, r->out, "block", tirc_value_str(r->m->name));
  if (tirc_links_have_cycle(c, r->spec))
    tirc_dict_put(c, r->out, "links_in_circle", tirc_value_bool(true));
  if (r->m->others) tirc_dict_put(c, r->out, "not_counted", tirc_value_int(r->m->others));
}

/* --- the door --------------------------------------------------------------------------------- */

static void refuse_cycles(const Report *r, const CostOptions *o) {
  if (!r->k->unfounded || o->allow_cycles) return;
  tirc_fail(
      r->c, r->m->loc, CODE_PE_ARRAY,
      "let the links take a step (\"same_time\": 0), or count the cost nevertheless with "
      "--allow-cycles",
      "links without delay form a cycle, and %lld times an item goes round it that no PE loads",
      (long long)r->k->unfounded);
}

Value tirc_cost_report(Tirc *c, const Func *f, const ArraySpec *spec, const CostOptions *o) {
  const Mapping *m = tirc_mapping(c, f, o->block);
  tirc_mapping_fits(m, spec);
  const HowExactly how = {o->enumerate ? o->enumerate : USUAL_ENUMERATE,
                          o->most ? o->most : USUAL_MOST, o->formulas};
  const Exactly e = tirc_count_exactly(c, m, spec, how);
  const Counts *k = &e.counts;
  Report r = {c, m, spec, k, dict_of(c)};
  refuse_cycles(&r, o);
  tirc_dict_put(c, r.out, "instances", tirc_value_int(k->instances));
  tirc_dict_put(c, r.out, "time_stamps", tirc_value_int(k->time_stamps));
  tirc_dict_put(c, r.out, "pes_used", tirc_value_int(k->pes_used));
  tirc_dict_put(c, r.out, "space_time", tirc_value_int(k->space_time));
  put_count(c, r.out, "active_max", k->active_max);
  tirc_dict_put(c, r.out, "active_avg", tirc_value_float(ratio(k->space_time, k->time_stamps)));
  put_count(c, r.out, "ties_max", k->ties_max);
  tirc_dict_put(c, r.out, "busy", tirc_value_int(k->busy));
  put_tensors(&r);
  put_derived(&r);
  put_how(&r, &e);
  put_once(&r, f);
  put_formulas(&r, &e);
  return r.out;
}
