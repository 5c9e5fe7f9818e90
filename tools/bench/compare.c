/* `tirc bench --compare A.json B.json`: the rows that both files have, and whether B is faster. */
#include "bench.h"
#include "tools/kit/input.h"
#include "tools/kit/json.h"

#include <math.h>
#include <string.h>

static const char *text_of(Json *row, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(row, key, &v) ? json_object_get_string(v) : "";
}
static double number_of(Json *row, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(row, key, &v) ? json_object_get_double(v) : 0;
}
static double bound_of(Json *row, size_t i) {
  Json *v = NULL;
  if (number_of(row, "turns") < ENOUGH_TURNS && json_object_object_get_ex(row, "turns", NULL))
    return i ? (double)INFINITY : 0;
  bool pair = json_object_object_get_ex(row, "median_s_95", &v) &&
              json_object_is_type(v, json_type_array) && json_object_array_length(v) == 2;
  return pair ? json_object_get_double(json_object_array_get_idx(v, i))
              : number_of(row, "median_s");
}

static bool is_same(Json *a, Json *b) {
  static const char *const keys[] = {"kernel", "setting", "contender", "threads"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(text_of(a, keys[i]), text_of(b, keys[i])) != 0) return false;
  return true;
}

static Json *find_row(Json *rows, Json *like) {
  for (size_t i = 0; i < json_object_array_length(rows); i++)
    if (is_same(json_object_array_get_idx(rows, i), like))
      return json_object_array_get_idx(rows, i);
  return NULL;
}

/* It tells whether the machine was the same, not whether the contenders were. */
static bool is_ceiling(Json *row) {
  Json *v = NULL;
  return json_object_object_get_ex(row, "is_ceiling", &v) && json_object_get_boolean(v);
}

/* The file and its rows; NULL after an error was reported. */
static Json *read_rows(const char *path, Json **rows) {
  char *text = NULL;
  size_t n = 0;
  if (read_text(path, &text, &n) != DONE) return NULL;
  char *why = json_fault(text, n);
  Json *j = why ? NULL : json_tokener_parse(text);
  if (j && json_object_object_get_ex(j, "results", rows) &&
      json_object_is_type(*rows, json_type_array))
    return j;
  complain("name two files that `tirc bench --figures FILE` wrote",
           "'%s' is not a result of a bench%s%s", path, why ? ": " : "", why ? why : "");
  json_object_put(j);
  return NULL;
}

/* The intervals of two runs are independent, and a run differs from the next by more than its turns
 * do: so the ends of both are taken, the widest that the ratio can be. */
static void print_pair(Json *a, Json *b, double ratio) {
  const tirc_ratio r = {ratio, bound_of(a, 0) / bound_of(b, 1), bound_of(a, 1) / bound_of(b, 0)};
  const int side = tirc_side_of_one(&r);
  char interval[INTERVAL_TEXT];
  const char *verdict = !tirc_is_interval(r.low, r.high) ? "few turns"
                        : side > 0                       ? "faster"
                        : side < 0                       ? "slower"
                                                         : "within noise";
  const char *colour = side > 0 ? GREEN : side < 0 ? RED : "";
  printf("%-12s %-28s %-18s %7s %11.4f %11.4f %6.3f  %s  %s%s%s\n", text_of(b, "kernel"),
         text_of(b, "setting"), text_of(b, "contender"), text_of(b, "threads"),
         number_of(a, "median_s") * 1e3, number_of(b, "median_s") * 1e3, ratio,
         interval_text(interval, 5, 3, r.low, r.high), paint(colour), verdict,
         *colour ? paint(RESET) : "");
}

static void print_table(Json *a, Json *b) {
  double sum = 0;
  int n = 0, alone = 0;
  printf("%-12s %-28s %-18s %7s %11s %11s %6s  %16s\n", "kernel", "setting", "contender", "threads",
         "A ms", "B ms", "ratio", "");
  for (size_t i = 0; i < json_object_array_length(b); i++) {
    Json *row = json_object_array_get_idx(b, i), *other = find_row(a, row);
    double ratio = other ? number_of(other, "median_s") / number_of(row, "median_s") : 0;
    if (!(ratio > 0) || !isfinite(ratio)) {
      alone++;
      continue;
    }
    print_pair(other, row, ratio);
    if (is_ceiling(row)) continue;
    sum += log(ratio);
    n++;
  }
  if (n)
    printf("geometric mean over %d row%s: B is %.3f times as fast as A\n", n, plural(n),
           exp(sum / n));
  if (alone) printf("%d row%s of B not in A\n", alone, alone == 1 ? " is" : "s are");
  if (!n) printf("the files have no contender in common\n");
}

int compare_files(const List *args) {
  Json *rows[2], *files[2];
  if (args->n != 2) return complain(NULL, "usage: tirc bench --compare A.json B.json");
  files[0] = read_rows(args->at[0], &rows[0]);
  files[1] = files[0] ? read_rows(args->at[1], &rows[1]) : NULL;
  if (files[1]) print_table(rows[0], rows[1]);
  json_object_put(files[0]);
  json_object_put(files[1]);
  return files[1] ? DONE : BAD;
}
