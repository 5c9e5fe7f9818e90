/* Pivot tables: what falls into a cell is summed up as a geometric mean, with the interval of the
 * bootstrap over turns (runtime/measure/statistics.h). */
#define _GNU_SOURCE
#include "results.h"

#include "runtime/measure/statistics.h"
#include "tools/kit/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 8 };

/* One side of the table: names of dimensions, and their values that occur, in order. */
typedef struct Side {
  int n_names, n;
  char *names[MOST_NAMES];
  char **keys; /* values joined by " " */
} Side;

typedef struct Pivot {
  const Results *r;
  Side rows, columns;
  int *row, *column; /* of each result; -1: in none */
} Pivot;

/* --- the sides -------------------------------------------------------------------------------- */

static bool is_known(const Results *r, const char *name) {
  char buffer[32];
  for (int i = 0; i < r->n; i++)
    if (dimension(&r->at[i], name, buffer, sizeof buffer)) return true;
  return false;
}

/* "variant, kernel, threads, target, machine, M, N, K" */
static void list_dimensions(const Results *r, char *out, size_t size) {
  snprintf(out, size, "there are variant, kernel, threads, target, machine");
  for (int i = 0; i < r->n; i++)
    for (int d = 0; d < r->at[i].at.n_defines; d++) {
      char *word = tirc_format(memory, ", %s", r->at[i].at.defines[d].name);
      const char *found = strstr(out, word);
      const char after = found ? found[strlen(word)] : 0;
      if ((!found || (after && after != ',')) && strlen(out) + strlen(word) + 1 < size)
        strcat(out, word);
    }
}

static int read_side(const Results *r, const char *text, size_t n, Side *out) {
  for (const char *p = text, *end = text + n; p <= end;) {
    const size_t length = (size_t)(end - p), plus = strcspn(p, "+");
    const size_t take = plus < length ? plus : length;
    char *name = tirc_strndup(memory, p, take), hint[1024];
    if (!name || out->n_names == MOST_NAMES) return complain(NULL, "--pivot: too many names");
    out->names[out->n_names++] = name;
    if (!is_known(r, name)) {
      list_dimensions(r, hint, sizeof hint);
      return complain(hint, "--pivot: no result has a '%s'", name);
    }
    p += take + 1;
  }
  return DONE;
}

/* Sizes are named, M=16; other values speak for themselves. */
static bool is_size_name(const Stored *s, const char *name) {
  for (int i = 0; i < s->at.n_defines; i++)
    if (strcmp(s->at.defines[i].name, name) == 0) return true;
  return false;
}

/* What result s has for the names of a side; NULL: not all of them. */
static char *key_of(const Stored *s, const Side *side) {
  char *out = NULL, buffer[32];
  size_t size;
  FILE *f = begin_text(&out, &size);
  bool whole = true;
  for (int i = 0; whole && i < side->n_names; i++) {
    const char *name = side->names[i], *value = dimension(s, name, buffer, sizeof buffer);
    const bool named = is_size_name(s, name);
    whole = value != NULL;
    if (whole) fprintf(f, "%s%s%s%s", i ? " " : "", named ? name : "", named ? "=" : "", value);
  }
  (void)end_text(f, &out);
  return whole ? out : NULL;
}

static int find_key(const Side *side, const char *key) {
  for (int i = 0; i < side->n; i++)
    if (strcmp(side->keys[i], key) == 0) return i;
  return -1;
}

/* Part by part: M=8 N=256 comes before M=16 N=64. */
static int compare_keys(const void *a, const void *b) {
  char *x = tirc_strdup(memory, *(char *const *)a), *y = tirc_strdup(memory, *(char *const *)b);
  char *rest_x = NULL, *rest_y = NULL;
  char *p = strtok_r(x, " ", &rest_x), *q = strtok_r(y, " ", &rest_y);
  int c = 0;
  for (; p && q && !c; p = strtok_r(NULL, " ", &rest_x), q = strtok_r(NULL, " ", &rest_y)) {
    const char *of_p = strchr(p, '='), *of_q = strchr(q, '=');
    c = of_p && of_q ? compare_values(of_p + 1, of_q + 1) : compare_values(p, q);
  }
  return c;
}

/* Contenders stay in the order of their results. */
static bool names_contenders(const Side *side) {
  for (int n = 0; n < side->n_names; n++)
    if (strcmp(side->names[n], "contender") == 0 || strcmp(side->names[n], "variant") == 0)
      return true;
  return false;
}

static void collect(const Results *r, Side *side) {
  side->keys = tirc_alloc_array(memory, (size_t)r->n + 1, sizeof *side->keys);
  for (int i = 0; i < r->n; i++) {
    char *key = key_of(&r->at[i], side);
    if (key && find_key(side, key) < 0) side->keys[side->n++] = key;
  }
  if (!names_contenders(side)) qsort(side->keys, (size_t)side->n, sizeof *side->keys, compare_keys);
}

static int place(const Stored *s, const Side *side) {
  char *key = key_of(s, side);
  return key ? find_key(side, key) : -1;
}

/* --- cells ------------------------------------------------------------------------------------ */

typedef struct Sum {
  tirc_ratio value; /* milliseconds, or times as fast */
  int n;            /* settings in it */
  bool busy;
} Sum;

/* The contender that s is compared with; NULL: it was not measured there. */
static const Stored *base_of(const Results *r, const Stored *s) {
  for (int i = 0; i < r->n; i++) {
    const Stored *b = &r->at[i];
    if (strcmp(b->held->name, r->o->against) == 0 && is_same_setting(b, s) && b->held->f.median > 0)
      return b;
  }
  return NULL;
}

/* Where contenders are summed up, those that none can be: the ceilings, and what all are compared
 * with. */
static bool is_left_out(const Pivot *p, const Stored *s) {
  if (names_contenders(&p->rows) || names_contenders(&p->columns)) return false;
  return s->held->ceiling || (p->r->o->against && strcmp(s->held->name, p->r->o->against) == 0);
}

static void add_to(const Results *r, const Stored *s, Sum *sum, RatioMean *mean) {
  const Stored *other = r->o->against ? base_of(r, s) : NULL;
  const Held *held = s->held, *base = other ? other->held : NULL;
  bool together = false;
  if (!(held->f.median > 0) || (r->o->against && !base)) return;
  if (base) pair_up(&held, &base, &together);
  if (tirc_mean_add(mean, &held->f, base ? &base->f : NULL, together))
    sum->busy = sum->busy || held->busy || (base && base->busy);
}

static Sum sum_up(const Pivot *p, int row, int column) {
  RatioMean mean = {0};
  Sum sum = {0};
  for (int i = 0; i < p->r->n; i++)
    if (p->row[i] == row && p->column[i] == column && !is_left_out(p, &p->r->at[i]))
      add_to(p->r, &p->r->at[i], &sum, &mean);
  sum.n = mean.n;
  sum.value = tirc_mean_end(&mean, 1, p->r->o->against ? 1 : 1e3);
  return sum;
}

/* --- printing --------------------------------------------------------------------------------- */

/* The value, the ends of its interval, whether the machine was busy. */
enum { CSV_COLUMNS = 4 };
static void add_csv_sum(Table *t, const Sum *s) {
  const double all[] = {s->value.value, s->value.low, s->value.high};
  for (int i = 0; i < 3; i++) {
    if (s->n && isfinite(all[i]))
      add_cell(t, "%.6g", all[i]);
    else
      add_cell(t, "%s", "");
  }
  if (s->n)
    add_cell(t, "%d", s->busy);
  else
    add_cell(t, "%s", "");
}

static void add_sum(Table *t, const Sum *s, int most) {
  char of[32] = "", interval[INTERVAL_TEXT];
  if (s->n && s->n < most) snprintf(of, sizeof of, " (%d of %d)", s->n, most);
  if (t->style == CSV)
    add_csv_sum(t, s);
  else if (s->n && t->style == LATEX)
    add_cell(t, "%s%s%s", rounded_text(interval, s->value.value, s->value.low, s->value.high),
             s->busy ? "*" : "", of);
  else if (s->n)
    add_cell(t, "%.4g%s %s%s", s->value.value, s->busy ? "*" : "",
             interval_text(interval, 0, 4, s->value.low, s->value.high), of);
  else
    add_cell(t, "-");
}

static void add_heads(const Pivot *p, Table *t) {
  for (int i = 0; i < p->rows.n_names; i++) add_cell(t, "%s%s", p->rows.names[i], "");
  for (int c = 0; c < p->columns.n; c++) {
    add_cell(t, "%s", p->columns.keys[c]);
    if (!p->r->o->asked.csv) continue;
    add_cell(t, "%s low", p->columns.keys[c]);
    add_cell(t, "%s high", p->columns.keys[c]);
    add_cell(t, "%s busy", p->columns.keys[c]);
  }
}

/* The values of a row's own dimensions, each in a cell. */
static void add_row_names(const Pivot *p, Table *t, int row) {
  char buffer[32];
  for (int i = 0; i < p->r->n; i++) {
    if (p->row[i] != row) continue;
    for (int n = 0; n < p->rows.n_names; n++)
      add_cell(t, "%s", dimension(&p->r->at[i], p->rows.names[n], buffer, sizeof buffer));
    return;
  }
}

/* How many settings the fullest cell has: the others say so if they have fewer. */
static int fullest(const Sum *sums, int n) {
  int most = 0;
  for (int i = 0; i < n; i++)
    if (sums[i].n > most) most = sums[i].n;
  return most;
}

static bool is_empty(const Sum *row, int n) { return fullest(row, n) == 0; }

/* --- what the figures are --------------------------------------------------------------------- */

static bool is_on_side(const Side *side, const char *name) {
  for (int i = 0; i < side->n_names; i++)
    if (strcmp(side->names[i], name) == 0) return true;
  return false;
}

/* Whether results in the table differ in it. */
static bool has_several(const Pivot *p, const char *name) {
  char first[32], other[32];
  const char *one = NULL;
  for (int i = 0; i < p->r->n; i++) {
    const Stored *s = &p->r->at[i];
    if (p->row[i] < 0 || p->column[i] < 0 || is_left_out(p, s)) continue;
    const char *value = dimension(s, name, one ? other : first, sizeof other);
    if (one && value && strcmp(one, value) != 0) return true;
    if (!one) one = value;
  }
  return false;
}

static void add_dimension(const Pivot *p, const char *name, char **list) {
  if (is_on_side(&p->rows, name) || is_on_side(&p->columns, name) || !has_several(p, name)) return;
  *list = tirc_format(memory, "%s%s%s", *list ? *list : "", *list ? ", " : "", name);
}

/* "kernel, M": what the settings of a cell differ in. */
static const char *name_averaged(const Pivot *p) {
  static const char *const names[] = {"kernel", "threads", "target", "machine"};
  char *list = NULL;
  for (int i = 0; i < 4; i++) add_dimension(p, names[i], &list);
  if (!is_on_side(&p->rows, "variant") && !is_on_side(&p->columns, "variant") &&
      !is_on_side(&p->rows, "contender") && !is_on_side(&p->columns, "contender"))
    add_dimension(p, "contender", &list);
  const char **sizes = NULL;
  int n = 0;
  for (int i = 0; i < p->r->n; i++)
    for (int d = 0; d < p->r->at[i].at.n_defines; d++) {
      const char *name = p->r->at[i].at.defines[d].name;
      int k = 0;
      while (k < n && strcmp(sizes[k], name) != 0) k++;
      if (k == n) *one_more(sizes, n) = name, add_dimension(p, name, &list);
    }
  return list ? list : "settings";
}

/* most: settings of the fullest cell. */
static char *describe_figures(const Pivot *p, int most) {
  const char *against = p->r->o->against;
  const bool rounded = p->r->o->latex;
  char *means = most > 1 ? tirc_format(memory,
                                       "; geometric means over %s, of %d settings or as many "
                                       "as are said",
                                       name_averaged(p), most)
                         : tirc_strdup(memory, "");
  return tirc_format(
      memory, "%s%s, %s%s", against ? "times as fast as " : "milliseconds", against ? against : "",
      rounded ? "± the larger half of the 95 % interval" : "with 95 % intervals", means);
}

static void put_pivot_table(const Pivot *p, const Sum *sums) {
  const ResultsOptions *o = p->r->o;
  const int n = p->columns.n, most = fullest(sums, p->rows.n * n);
  Table t = {.style = style_of(o),
             .columns = p->rows.n_names + n * (o->asked.csv ? CSV_COLUMNS : 1),
             .right = ~UINT64_C(0)};
  char *what = describe_figures(p, most);
  const char *note = note_of(p->r);
  t.right <<= p->rows.n_names;
  t.note = note ? tirc_format(memory, "%s. %s", what, note) : what;
  if (t.style == ALIGNED) put_name(stdout, what), putchar('\n');
  add_heads(p, &t);
  for (int row = 0; row < p->rows.n; row++) {
    if (is_empty(&sums[row * n], n)) continue;
    add_row_names(p, &t, row);
    for (int c = 0; c < n; c++) add_sum(&t, &sums[row * n + c], most);
  }
  put_table(stdout, &t);
}

static void add_names(Json *j, const Side *side) {
  for (int i = 0; i < side->n_names; i++)
    json_object_array_add(j, json_object_new_string(side->names[i]));
}

static void add_dimensions(Json *j, const Stored *s, const Side *side) {
  char buffer[32];
  for (int i = 0; i < side->n_names; i++) {
    const char *value = dimension(s, side->names[i], buffer, sizeof buffer);
    char *end;
    const long long n = strtoll(value, &end, 10);
    add_json(j, side->names[i], *end ? json_text(value) : json_object_new_int64(n));
  }
}

static Json *cell_as_json(const Pivot *p, int row, int column, const Sum *sum) {
  const char *what = p->r->o->against ? "times_as_fast" : "milliseconds";
  Json *j = json_object_new_object();
  for (int i = 0; i < p->r->n; i++)
    if (p->row[i] == row && p->column[i] == column) {
      add_dimensions(j, &p->r->at[i], &p->rows);
      add_dimensions(j, &p->r->at[i], &p->columns);
      break;
    }
  add_number(j, what, sum->value.value);
  add_number(j, "low", sum->value.low);
  add_number(j, "high", sum->value.high);
  add_int(j, "settings", sum->n);
  add_bool(j, "busy", sum->busy);
  return j;
}

static int put_pivot_json(const Pivot *p, const Sum *sums) {
  Json *j = json_object_new_object(), *rows = json_object_new_array(),
       *columns = json_object_new_array(), *cells = json_object_new_array();
  add_names(rows, &p->rows);
  add_names(columns, &p->columns);
  for (int row = 0; row < p->rows.n; row++)
    for (int c = 0; c < p->columns.n; c++)
      if (sums[row * p->columns.n + c].n)
        json_object_array_add(cells, cell_as_json(p, row, c, &sums[row * p->columns.n + c]));
  add_json(j, "rows", rows);
  add_json(j, "columns", columns);
  if (p->r->o->against) add_text(j, "against", p->r->o->against);
  add_json(j, "cells", cells);
  return write_json(NULL, j, true);
}

static int put(Pivot *p) {
  const Results *r = p->r;
  const size_t n = (size_t)p->rows.n * (size_t)p->columns.n;
  Sum *sums = tirc_alloc_array(memory, n + 1, sizeof *sums);
  p->row = tirc_alloc_array(memory, (size_t)r->n + 1, sizeof *p->row);
  p->column = tirc_alloc_array(memory, (size_t)r->n + 1, sizeof *p->column);
  for (int i = 0; i < r->n; i++) {
    p->row[i] = place(&r->at[i], &p->rows);
    p->column[i] = place(&r->at[i], &p->columns);
  }
  for (size_t i = 0; i < n; i++) sums[i] = sum_up(p, (int)i / p->columns.n, (int)i % p->columns.n);
  int status = DONE;
  if (fullest(sums, (int)n) == 0)
    status = complain("`tirc results` lists what there is",
                      r->o->against ? "nothing was measured beside '%s'"
                                    : "no result has both sides of the table%s",
                      r->o->against ? r->o->against : "");
  else if (r->o->asked.as_json)
    status = put_pivot_json(p, sums);
  else
    put_pivot_table(p, sums);
  return status;
}

int put_pivot(const Results *r) {
  Pivot p = {.r = r};
  const char *text = r->o->pivot, *comma = strchr(text, ',');
  int status = comma && comma > text && comma[1] && !strchr(comma + 1, ',')
                   ? DONE
                   : complain("--pivot variant,M or --pivot kernel+threads,variant",
                              "--pivot takes rows and columns, not '%s'", text);
  if (status == DONE) status = read_side(r, text, (size_t)(comma - text), &p.rows);
  if (status == DONE) status = read_side(r, comma + 1, strlen(comma + 1), &p.columns);
  if (status != DONE) return status;
  collect(r, &p.rows);
  collect(r, &p.columns);
  return put(&p);
}
