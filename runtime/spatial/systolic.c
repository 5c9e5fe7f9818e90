/* Matrix products on a systolic array of R x C elements, as SCALE-Sim reckons (Samajdar et al.,
 * ISPASS 2020). The matrix is cut into folds of at most R x C, which run one after the other:
 *
 *   rows of the array take S_R, columns S_C, and T steps stream through:
 *     output stationary   S_R, S_C, T = M, N, K
 *     weight stationary                 K, N, M
 *     input stationary                  K, M, N
 *
 * The published formula has 2 R + C + T - 2 steps for each fold: R to bring the stationary operand
 * in (or the results out), R + C - 2 until the last element begins, T for the stream. A fold at the
 * edge uses R' rows and C' columns and takes R + R' + C' + T - 2: that is what registers do that
 * are moved step by step, and stands beside it. */
#include "spatial.h"

#include "ir/nearest.h"
#include "passes/record/trace.h"

#include <math.h>
#include <stdlib.h>

typedef struct Flow {
  int64_t rows, columns, stream; /* S_R, S_C, T */
} Flow;

static Flow flow_of(Dataflow how, int64_t m, int64_t n, int64_t k) {
  switch (how) {
  case WEIGHT_STATIONARY: return (Flow){k, n, m};
  case INPUT_STATIONARY: return (Flow){k, m, n};
  default: return (Flow){m, n, k};
  }
}

const char *const tirc_dataflow_names[] = {"os", "ws", "is"};

Systolic tirc_systolic(const ArraySpec *spec, Dataflow how, const MatrixProduct *p) {
  const Flow s = flow_of(how, p->m, p->n, p->k);
  const int64_t rows = spec->dims[0], columns = spec->dims[1];
  const int64_t down = (s.rows + rows - 1) / rows, across = (s.columns + columns - 1) / columns;
  const int64_t folds = down * across, a = p->m * p->k, b = p->k * p->n, c = p->m * p->n;
  Systolic out = {.rows = s.rows,
                  .columns = s.columns,
                  .stream = s.stream,
                  .folds = {down, across},
                  .macs = a * p->n,
                  .formula = (2 * rows + columns + s.stream - 2) * folds,
                  .stepped = (rows + s.stream - 2) * folds + across * s.rows + down * s.columns};
  out.reads_a = how == INPUT_STATIONARY ? a : a * across;
  out.reads_b = how == OUTPUT_STATIONARY ? b * down : how == WEIGHT_STATIONARY ? b : b * across;
  out.writes = how == OUTPUT_STATIONARY ? c : c * down;
  out.partial = how == OUTPUT_STATIONARY ? 0 : c * (down - 1);
  out.efficiency = (double)s.rows * (double)s.columns / ((double)(rows * columns) * (double)folds);
  return out;
}

/* --- a log of products ------------------------------------------------------------------------ */

typedef struct Sum {
  int64_t products, macs, formula, stepped, in, out, partial;
  __int128 in_bits, out_bits;
  double seconds;    /* that the calls took, as the log has it */
  int64_t call;      /* the last one of them, of which a function may have several products: */
  const char *first; /* the block of its first one; "": the log does not say */
} Sum;

/* Of a product's items. */
typedef struct ItemBits {
  int64_t a, b, out;
} ItemBits;

typedef struct Log {
  Tirc *c;
  const char *file;
  int line;
  const ArraySpec *spec;
  Dataflow how;
  Value products, functions;
  VEC(const char *) names;
  VEC(Sum) sums; /* of the function of each name */
  Sum all;
  int64_t prepared;
} Log;

static _Noreturn void wrong(const Log *l, const char *hint, const char *what, const char *name) {
  tirc_fail(l->c, (Loc){l->file, l->line, 1}, CODE_PE_ARRAY, hint, what, name);
}

static void allow_fields(const Log *l, Value object) {
  static const char *const names[] = {"call", "phase",  "function",    "block",  "batch",
                                      "M",    "N",      "K",           "a",      "b",
                                      "out",  "layout", "convolution", "seconds"};
  enum { N = sizeof names / sizeof *names };
  for (int i = 0; i + 1 < object.u.list->n; i += 2) {
    const char *key = object.u.list->at[i].u.s;
    int k = 0;
    while (k < N && strcmp(names[k], key)) k++;
    if (k == N) {
      const char *near = tirc_nearest(l->c, key, N, names);
      wrong(l, near, "a product has no field \"%s\"", key);
    }
  }
}

static int64_t size(const Log *l, Value object, const char *name, int64_t usual) {
  const Value *v = tirc_dict_find(object, name);
  if (!v && usual) return usual;
  if (!v) wrong(l, NULL, "the product has no \"%s\"", name);
  if (v->kind != VAL_INT || v->u.i < 1 || v->u.i > INT32_MAX)
    wrong(l, "the log of a run has the sizes that it had", "\"%s\" is not a whole number from 1 on",
          name);
  return v->u.i;
}

static const char *text(const Log *l, Value object, const char *name, const char *usual) {
  const Value *v = tirc_dict_find(object, name);
  if (!v) return usual;
  if (v->kind != VAL_STR) wrong(l, NULL, "\"%s\" is not text", name);
  return v->u.s;
}

/* "uint4" has 4 bits; 0: the name ends without a number of them. */
static int64_t bits_in(const char *name) {
  const char *digits = name + strcspn(name, "0123456789");
  char *end;
  const long v = strtol(digits, &end, 10);
  return digits > name && *digits && !*end && v >= 1 && v <= 64 ? v : 0;
}

static int64_t own_bits(const Log *l, Value object, const char *name) {
  const char *type = text(l, object, name, NULL);
  if (!type)
    wrong(l, "--bits N gives all items as many", "the product has no type \"%s\" of its items",
          name);
  const int64_t bits = !strcmp(type, "bool") ? 8 : bits_in(type);
  if (!bits) wrong(l, "such as float32, int8, uint4", "\"%s\" is no type of numbers", type);
  return bits;
}

static ItemBits bits_of(const Log *l, Value object) {
  const int64_t same = l->spec->item_bits;
  if (same) return (ItemBits){same, same, same};
  return (ItemBits){own_bits(l, object, "a"), own_bits(l, object, "b"), own_bits(l, object, "out")};
}

/* The seconds of a call stand at each of its products, each of a block of its own: where the first
 * block comes again, the call does. */
static void add_seconds(const Log *l, Value object, Sum *to) {
  const Value *v = tirc_dict_find(object, "seconds"), *call = tirc_dict_find(object, "call");
  const char *block = text(l, object, "block", "");
  if (!v) return;
  const double seconds = v->kind == VAL_FLOAT ? v->u.f : v->kind == VAL_INT ? (double)v->u.i : -1;
  if (!(seconds >= 0)) wrong(l, NULL, "\"%s\" is not a time from 0 on", "seconds");
  const int64_t number = call && call->kind == VAL_INT ? call->u.i + 1 : 0;
  if (number && number == to->call && (!*block || strcmp(block, to->first) != 0)) return;
  to->call = number;
  to->first = block;
  to->seconds += seconds;
}

static double part(double a, double b) { return b > 0 ? round(a / b * 1e6) / 1e6 : 0; }

/* sum += batch * n: false where int64 does not hold it. */
static bool add_times(int64_t *sum, int64_t batch, int64_t n) {
  int64_t all;
  return !__builtin_mul_overflow(batch, n, &all) && !__builtin_add_overflow(*sum, all, sum);
}

static void add(Log *l, Sum *to, const Systolic *s, ItemBits bits, int64_t batch) {
  to->products++;
  to->in_bits += (__int128)batch * ((__int128)s->reads_a * bits.a + (__int128)s->reads_b * bits.b +
                                    (__int128)s->partial * bits.out);
  to->out_bits += (__int128)batch * s->writes * bits.out;
  if (!add_times(&to->macs, batch, s->macs) || !add_times(&to->formula, batch, s->formula) ||
      !add_times(&to->stepped, batch, s->stepped) ||
      !add_times(&to->in, batch, s->reads_a + s->reads_b) ||
      !add_times(&to->out, batch, s->writes) || !add_times(&to->partial, batch, s->partial))
    wrong(l, NULL, "the product has more %s than are counted", "operations");
}

static void put_sum(const Log *l, Value out, const Sum *s) {
  Tirc *c = l->c;
  const ArraySpec *spec = l->spec;
  const double elements = (double)(spec->dims[0] * spec->dims[1]);
  const int64_t in = tirc_bits_delay(spec, s->in_bits);
  const int64_t back = tirc_bits_delay(spec, s->out_bits);
  const int64_t most = in > back ? in : back;
  tirc_dict_put(c, out, "products", tirc_value_int(s->products));
  tirc_dict_put(c, out, "macs", tirc_value_int(s->macs));
  tirc_dict_put(c, out, "formula_cycles", tirc_value_int(s->formula));
  tirc_dict_put(c, out, "simulated_cycles", tirc_value_int(s->stepped));
  tirc_dict_put(c, out, "utilisation",
                tirc_value_float(part((double)s->macs, elements * (double)s->stepped)));
  tirc_dict_put(c, out, "reads", tirc_value_int(s->in));
  tirc_dict_put(c, out, "writes", tirc_value_int(s->out));
  tirc_dict_put(c, out, "reads_of_partial_C", tirc_value_int(s->partial));
  tirc_dict_put(c, out, "ingress_delay", tirc_value_int(in));
  tirc_dict_put(c, out, "egress_delay", tirc_value_int(back));
  tirc_dict_put(c, out, "latency", tirc_value_int(s->stepped > most ? s->stepped : most));
  tirc_dict_put(c, out, "seconds", tirc_value_float(s->seconds));
  tirc_dict_put(c, out, "binds",
                tirc_value_str(s->stepped >= most ? "compute"
                               : in >= back       ? "ingress"
                                                  : "egress"));
  tirc_dict_put(
      c, out, "energy",
      tirc_value_float(round(((double)s->macs * spec->mac +
                              (double)(s->in + s->partial) * (spec->l2_read + spec->l1_write) +
                              (double)s->out * (spec->l2_write + spec->l1_read)) *
                             100) /
                       100));
}

static void put_product(const Log *l, Value out, const Systolic *s, const MatrixProduct *p) {
  Tirc *c = l->c;
  const double elements = (double)(l->spec->dims[0] * l->spec->dims[1]);
  const bool os = l->how == OUTPUT_STATIONARY;
  const int64_t folds = s->folds[0] * s->folds[1], rows = l->spec->dims[0];
  const int64_t columns = l->spec->dims[1];
  const int64_t v2 = os ? (rows + columns + s->stream - 2) * folds : s->formula;
  const Value both[] = {tirc_value_int(s->folds[0]), tirc_value_int(s->folds[1])};
  tirc_dict_put(c, out, "M", tirc_value_int(p->m));
  tirc_dict_put(c, out, "N", tirc_value_int(p->n));
  tirc_dict_put(c, out, "K", tirc_value_int(p->k));
  tirc_dict_put(c, out, "batch", tirc_value_int(p->batch));
  tirc_dict_put(c, out, "S_R", tirc_value_int(s->rows));
  tirc_dict_put(c, out, "S_C", tirc_value_int(s->columns));
  tirc_dict_put(c, out, "T", tirc_value_int(s->stream));
  tirc_dict_put(c, out, "folds", tirc_value_list(c, VAL_LIST, 2, both));
  tirc_dict_put(c, out, "macs", tirc_value_int(s->macs));
  tirc_dict_put(c, out, "formula_cycles", tirc_value_int(s->formula));
  tirc_dict_put(c, out, "simulated_cycles", tirc_value_int(s->stepped));
  tirc_dict_put(c, out, "v2_trace_lines", tirc_value_int(v2));
  tirc_dict_put(c, out, "v2_prints_cycles", tirc_value_int(v2 - 1));
  tirc_dict_put(c, out, "v2_prints_writes",
                tirc_value_int(s->writes + (os ? (rows + columns) * folds : 0)));
  tirc_dict_put(c, out, "utilisation",
                tirc_value_float(part((double)s->macs, elements * (double)s->stepped)));
  tirc_dict_put(c, out, "formula_utilisation",
                tirc_value_float(part((double)s->macs, elements * (double)s->formula)));
  tirc_dict_put(c, out, "mapping_efficiency", tirc_value_float(part(s->efficiency, 1)));
  tirc_dict_put(c, out, "reads_A", tirc_value_int(s->reads_a));
  tirc_dict_put(c, out, "reads_B", tirc_value_int(s->reads_b));
  tirc_dict_put(c, out, "writes_C", tirc_value_int(s->writes));
  tirc_dict_put(c, out, "reads_of_partial_C", tirc_value_int(s->partial));
}

static Sum *sum_of(Log *l, const char *function) {
  for (int i = 0; i < l->names.n; i++)
    if (!strcmp(l->names.at[i], function)) return &l->sums.at[i];
  vec_push(l->c, l->names, function);
  vec_push(l->c, l->sums, ((Sum){0}));
  return &l->sums.at[l->sums.n - 1];
}

static void read_line(Log *l, const char *at, size_t n) {
  Tirc *c = l->c;
  const Value v = tirc_value_of_json(c, tirc_strndup(c, at, n));
  if (v.kind != VAL_DICT)
    wrong(l, "tirc run MODEL --log-matmuls FILE writes such a log", "%s",
          "the line is not a JSON object");
  allow_fields(l, v);
  const MatrixProduct p = {size(l, v, "batch", 1), size(l, v, "M", 0), size(l, v, "N", 0),
                           size(l, v, "K", 0)};
  if ((double)p.batch * (double)p.m * (double)p.n * (double)p.k > 1e17)
    wrong(l, NULL, "the product has more %s than are counted", "operations");
  const char *function = text(l, v, "function", ""), *phase = text(l, v, "phase", "run");
  if (!strcmp(phase, "prepare")) { /* of weights alone, once before any run */
    l->prepared++;
    return;
  }
  const Systolic s = tirc_systolic(l->spec, l->how, &p);
  const ItemBits bits = bits_of(l, v);
  add(l, sum_of(l, function), &s, bits, p.batch);
  add(l, &l->all, &s, bits, p.batch);
  add_seconds(l, v, sum_of(l, function));
  add_seconds(l, v, &l->all);
  const Value out = tirc_value_list(c, VAL_DICT, 0, NULL);
  tirc_dict_put(c, out, "line", tirc_value_int(l->line));
  tirc_dict_put(c, out, "function", tirc_value_str(function));
  put_product(l, out, &s, &p);
  tirc_value_append(c, l->products, out);
}

static Value functions_of(const Log *l) {
  const Value out = tirc_value_list(l->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < l->names.n; i++) {
    const Value one = tirc_value_list(l->c, VAL_DICT, 0, NULL);
    tirc_dict_put(l->c, one, "function", tirc_value_str(l->names.at[i]));
    put_sum(l, one, &l->sums.at[i]);
    tirc_value_append(l->c, out, one);
  }
  return out;
}

Value tirc_log_report(Tirc *c, const char *file, const char *text, size_t n, const ArraySpec *spec,
                      Dataflow how) {
  Log l = {.c = c, .file = file, .spec = spec, .how = how};
  const Value out = tirc_value_list(c, VAL_DICT, 0, NULL);
  const Value all = tirc_value_list(c, VAL_DICT, 0, NULL);
  if (spec->n_dims != 2)
    tirc_fail(c, (Loc){spec->file, 1, 1}, CODE_PE_ARRAY, NULL,
              "a systolic array for products has rows and columns, and this one has %d ax%s",
              spec->n_dims, spec->n_dims == 1 ? "is" : "es");
  l.products = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (size_t at = 0; at < n;) {
    const char *end = memchr(text + at, '\n', n - at);
    const size_t length = end ? (size_t)(end - text) - at : n - at;
    l.line++;
    if (strspn(text + at, " \t\r") < length) read_line(&l, text + at, length);
    at += length + 1;
  }
  if (!l.all.products && !l.prepared)
    tirc_fail(c, (Loc){file, 1, 1}, CODE_PE_ARRAY, NULL, "the log has no products");
  tirc_dict_put(c, out, "dataflow", tirc_value_str(tirc_dataflow_names[how]));
  tirc_dict_put(c, out, "products", l.products);
  tirc_dict_put(c, out, "functions", functions_of(&l));
  put_sum(&l, all, &l.all);
  tirc_dict_put(c, out, "all", all);
  tirc_dict_put(c, out, "prepared", tirc_value_int(l.prepared));
  return out;
}
