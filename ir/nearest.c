#include "nearest.h"

#include <stdio.h>

int tirc_name_distance(const char *a, size_t n, const char *b, size_t m) {
  int row[TIRC_LONGEST_NAME + 1];
  if (n > TIRC_LONGEST_NAME || m > TIRC_LONGEST_NAME) return TIRC_LONGEST_NAME + 1;
  for (size_t j = 0; j <= m; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int replace = diagonal + (a[i - 1] != b[j - 1]);
      int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = replace < other ? replace : other;
    }
  }
  return row[m];
}

void tirc_offer_name(Nearest *best, const char *name, size_t n) {
  int d = tirc_name_distance(best->wanted, best->n_wanted, name, n);
  if (!best->name || d < best->distance) best->name = name, best->n = n, best->distance = d;
}

bool tirc_is_near(const Nearest *best) {
  return best->name && best->distance <= 2 && 2 * (size_t)best->distance <= best->n_wanted;
}

const char *tirc_suggest_name(Nearest *best, const char *dashes, const char *otherwise) {
  if (!tirc_is_near(best)) return otherwise;
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
