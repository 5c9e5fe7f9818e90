#include "nearest.h"

int tirc_name_distance(const char *a, const char *b) {
  int row[TIRC_LONGEST_NAME + 1], n = (int)strlen(b);
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; *a; a++, i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int replace = diagonal + (*a != b[j - 1]);
      int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = replace < other ? replace : other;
    }
  }
  return row[n];
}

const char *tirc_nearest(Tirc *c, const char *name, int n, const char *const *candidates) {
  size_t length = strlen(name);
  int best = length < 3 ? 2 : 3; /* less than this is near */
  const char *found = NULL;
  if (length > TIRC_LONGEST_NAME) return NULL;
  for (int i = 0; i < n; i++) {
    if (strlen(candidates[i]) > TIRC_LONGEST_NAME) continue;
    int d = tirc_name_distance(name, candidates[i]);
    if (d >= best || (size_t)d >= length) continue;
    best = d;
    found = candidates[i];
  }
  return found ? tirc_format(c, "did you mean '%s'?", found) : NULL;
}
