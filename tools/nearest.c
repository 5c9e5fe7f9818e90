/* Which of the names that there are was meant by one that is not there. */
#include "tool.h"

#include <ctype.h>
#include <string.h>

/* Letters to change, add or leave out, up to `most`; one more when there are more. */
static int difference(const char *a, size_t n, const char *b, size_t m, int most) {
  if (n == 0 || m == 0) return (int)(n + m);
  if (*a == *b) return difference(a + 1, n - 1, b + 1, m - 1, most);
  if (most == 0) return 1;
  const int change = difference(a + 1, n - 1, b + 1, m - 1, most - 1);
  const int add = difference(a, n, b + 1, m - 1, most - 1);
  const int leave = difference(a + 1, n - 1, b, m, most - 1);
  const int least = change < add ? change : add;
  return 1 + (least < leave ? least : leave);
}

void offer_name(Nearest *best, const char *name, size_t n) {
  const int d = difference(best->wanted, best->n_wanted, name, n, 2);
  if (!best->name || d < best->difference) best->name = name, best->n = n, best->difference = d;
}

/* Of a short name, two letters are too much. */
const char *suggest_name(Nearest *best, const char *dashes, const char *otherwise) {
  const size_t d = (size_t)best->difference;
  if (!best->name || d > 2 || 2 * d > best->n_wanted) return otherwise;
  snprintf(best->hint, sizeof best->hint, "did you mean '%s%.*s'?", dashes,
           (int)(best->n < 200 ? best->n : 200), best->name);
  return best->hint;
}

bool same_name(const char *a, const char *b) {
  for (; *a; a++, b++)
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b) &&
        !(strchr("-_ ", *a) && *b && strchr("-_ ", *b)))
      return false;
  return !*b;
}
