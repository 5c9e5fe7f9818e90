#include "nearest.h"
#include "ascii.h"

#include <stdio.h>

static int smaller(int a, int b) { return a < b ? a : b; }

int tirc_name_distance(const char *a, size_t n, const char *b, size_t m) {
  int rows[3][TIRC_LONGEST_NAME + 1]; /* of the prefixes of a: this one, and one and two shorter */
  if (n > TIRC_LONGEST_NAME || m > TIRC_LONGEST_NAME) return TIRC_LONGEST_NAME + 1;
  for (size_t j = 0; j <= m; j++) rows[0][j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int *row = rows[i % 3];
    const int *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = smaller(smaller(before[j], row[j - 1]) + 1, before[j - 1] + !same);
      if (i > 1 && j > 1 && !same && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = smaller(row[j], two_before[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

static bool differs_by_case(const char *a, size_t n, const char *b, size_t m) {
  size_t i = 0;
  while (n == m && i < n && tirc_lower(a[i]) == tirc_lower(b[i])) i++;
  return n == m && i == n;
}

/* "float" is meant as "float32". */
static bool lacks_digits(const char *a, size_t n, const char *b, size_t m) {
  size_t i = n;
  while (i < m && b[i] >= '0' && b[i] <= '9') i++;
  return n > 2 && n < m && i == m && memcmp(a, b, n) == 0;
}

void tirc_offer_name(Nearest *best, const char *name, size_t n) {
  int d = tirc_name_distance(best->wanted, best->n_wanted, name, n);
  if (d > 0 && lacks_digits(best->wanted, best->n_wanted, name, n))
    d = n > 2 && memcmp(name + n - 2, "32", 2) == 0 ? 0 : 1; /* the usual type */
  if (differs_by_case(best->wanted, best->n_wanted, name, n)) d = 0;
  if (!best->name || d < best->distance) best->name = name, best->n = n, best->distance = d;
}

/* Whether it may have been meant: two letters, of a short name one. */
static bool is_near(const Nearest *best) {
  return best->name && best->distance <= 2 && 2 * (size_t)best->distance <= best->n_wanted;
}

const char *tirc_suggest_name(Nearest *best, const char *dashes, const char *otherwise) {
  if (!is_near(best)) return otherwise;
  snprintf(best->hint, sizeof best->hint, "did you mean '%s%.*s'?", dashes, (int)best->n,
           best->name);
  return best->hint;
}

const char *tirc_nearest(Tirc *c, const char *name, int n, const char *const *candidates) {
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < n; i++) tirc_offer_name(&best, candidates[i], strlen(candidates[i]));
  const char *hint = tirc_suggest_name(&best, "", NULL);
  return hint ? tirc_strdup(c, hint) : NULL;
}
