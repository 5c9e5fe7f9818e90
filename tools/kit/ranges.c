/* --range NAME=LO:HI: what random arrays are drawn from. */
#include "kit.h"

#include "ir/number.h"

#include <math.h>
#include <string.h>

/* A number up to the character `end`; NULL: it is none. */
static const char *read_number(const char *text, char end, double *out) {
  char *rest = NULL;
  *out = tirc_parse_double(text, &rest);
  return rest != text && *rest == end && isfinite(*out) ? rest : NULL;
}

static int read_range(const char *text, double *low, double *high) {
  const char *at = strchr(text, '=');
  if (at && at > text) at = read_number(at + 1, ':', low);
  if (at) at = read_number(at + 1, 0, high);
  if (!at)
    return complain("such as --range A=0.1:1", "--range takes NAME=LO:HI, two numbers, not '%s'",
                    text);
  if (*low > *high)
    return complain("give the smaller value first", "--range %s: %g is more than %g", text, *low,
                    *high);
  return DONE;
}

int check_range_names(const Running *o, int n, const tirc_param *params, int programs) {
  for (int k = 0; k < o->range.n; k++) {
    double low, high;
    bool known = false;
    if (read_range(o->range.at[k], &low, &high) != DONE) return BAD;
    for (int i = 0; i < n; i++)
      known |= params[i].is_array && value_of_param(o->range.at[k], &params[i]);
    if (known) continue;
    return complain(NULL, "--range %s: %s no array parameter '%.*s'", o->range.at[k],
                    programs == 1 ? "the function has" : "the programs have",
                    (int)strcspn(o->range.at[k], "="), o->range.at[k]);
  }
  return DONE;
}

static uint64_t seed_of(const Running *o, int i) { return (uint64_t)o->seed * 1000 + (uint64_t)i; }

/* Of as many elements as go into a sum, so that values of one layer have the size of the last
 * one's: a softmax of large ones has numbers with which arithmetic is slow. */
static double weight_bound(const tirc_array *a) {
  const int n = tirc_array_ndim(a);
  const int64_t *shape = tirc_array_shape(a), count = tirc_array_count(a);
  if (n < 2 || !count || strncmp(tirc_array_dtype(a), "float", 5) != 0) return 0;
  const int64_t columns = shape[0] > shape[n - 1] ? shape[0] : shape[n - 1];
  return sqrt(3.0 * (double)columns / (double)count);
}

int fill_weight(const Running *o, const tirc_param *p, int i, tirc_array *a) {
  const double bound = weight_bound(a);
  tirc_error *e = NULL;
  bool is_said = false;
  for (int k = 0; k < o->range.n; k++) is_said |= value_of_param(o->range.at[k], p) != NULL;
  if (is_said || bound <= 0) return fill_random(o, p, i, a);
  return tirc_array_fill_range(a, seed_of(o, i), -bound, bound, &e) ? report(e) : DONE;
}

int fill_random(const Running *o, const tirc_param *p, int i, tirc_array *a) {
  const uint64_t seed = seed_of(o, i);
  tirc_error *e = NULL;
  double low, high;
  for (int k = o->range.n - 1; k >= 0; k--) {
    if (!value_of_param(o->range.at[k], p)) continue;
    if (read_range(o->range.at[k], &low, &high) != DONE) return BAD;
    return tirc_array_fill_range(a, seed, low, high, &e) ? report(e) : DONE;
  }
  tirc_array_fill_random(a, seed);
  return DONE;
}

/* The name stands where the text does: up to the "=". */
int read_ranges(const Running *o, tirc_input_range **out) {
  *out = tirc_alloc_array(memory, (size_t)o->range.n + 1, sizeof **out);
  int status = DONE;
  for (int k = 0; k < o->range.n && status == DONE; k++) {
    const char *text = o->range.at[k];
    status = read_range(text, &(*out)[k].low, &(*out)[k].high);
    if (status == DONE) (*out)[k].param = tirc_strndup(memory, text, strcspn(text, "="));
  }
  return status;
}
