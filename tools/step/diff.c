/* Myers' algorithm ("An O(ND) difference algorithm and its variations", 1986): the furthest line
 * that each diagonal reaches with d edits, for d = 0, 1, ...; every round is kept, and the path is
 * read off backwards. Texts that differ in more than MOST_EDITS lines are replaced whole. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EDITS = 1500 };

typedef struct Line {
  const char *at;
  size_t n;
} Line;
typedef struct Lines {
  int n;
  Line *at;
} Lines;

static bool read_lines(const char *text, Lines *out) {
  size_t count = 0;
  for (const char *s = text; *s; s++) count += *s == '\n' || !s[1];
  out->at = calloc(count + 1, sizeof *out->at);
  if (!out->at) return false;
  for (const char *s = text; *s;) {
    size_t n = strcspn(s, "\n");
    out->at[out->n++] = (Line){s, n};
    s += n + (s[n] == '\n');
  }
  return true;
}

static bool same(Line a, Line b) {
  for (; a.n && *a.at == ' '; a.at++) a.n--;
  for (; b.n && *b.at == ' '; b.at++) b.n--;
  return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

static void push(Diff *d, Line a, Line b, int before, int after) {
  bool moved = before && after && (a.n != b.n || memcmp(a.at, b.at, a.n) != 0);
  char op = before ? (after ? (moved ? '>' : ' ') : '-') : '+';
  Line shown = after ? b : a;
  d->at[d->n++] = (DiffLine){op, before, after, shown.at, shown.n};
  d->changed += op == '-' || op == '+';
}

/* What lies between the common start and the common end: n lines of a, m of b. */
typedef struct Middle {
  const Line *a, *b;
  int n, m;
  int **rounds; /* rounds[d] + d is the furthest x of diagonal 0 */
} Middle;

/* Where round d comes to diagonal k from: down from k + 1 (a line of b) or right from k - 1. */
static bool goes_down(const int *last, int k, int d) {
  return k == -d || (k != d && last[k - 1] < last[k + 1]);
}

/* The number of edits; -1: too many, -2: out of memory. */
static int search(Middle *q) {
  for (int d = 0; d <= MOST_EDITS; d++) {
    q->rounds[d] = calloc((size_t)(2 * d + 1), sizeof **q->rounds);
    if (!q->rounds[d]) return -2;
    int *now = q->rounds[d] + d;
    const int *last = d ? q->rounds[d - 1] + d - 1 : NULL;
    for (int k = -d; k <= d; k += 2) {
      int x = !last ? 0 : goes_down(last, k, d) ? last[k + 1] : last[k - 1] + 1;
      while (x < q->n && x - k < q->m && x - k >= 0 && same(q->a[x], q->b[x - k])) x++;
      now[k] = x;
      if (x >= q->n && x - k >= q->m) return d;
    }
  }
  return -1;
}

/* ops[i], from the end: '=', '-' or '+'. */
static int read_back(const Middle *q, int d, char *ops) {
  int n = 0, x = q->n, y = q->m;
  for (; d > 0; d--) {
    const int *last = q->rounds[d - 1] + d - 1;
    int k = x - y;
    bool down = goes_down(last, k, d);
    int from = down ? last[k + 1] : last[k - 1] + 1;
    for (; x > from; x--, y--) ops[n++] = '=';
    ops[n++] = down ? '+' : '-';
    if (down)
      y--;
    else
      x--;
  }
  for (; x > 0; x--) ops[n++] = '=';
  return n;
}

static int replace_whole(const Middle *q, char *ops) {
  memset(ops, '+', (size_t)q->m);
  memset(ops + q->m, '-', (size_t)q->n);
  return q->n + q->m;
}

static bool diff_middle(Middle *q, int first, Diff *out) {
  char *ops = malloc((size_t)(q->n + q->m) + 1);
  q->rounds = calloc(MOST_EDITS + 1, sizeof *q->rounds);
  int d = ops && q->rounds ? search(q) : -2;
  if (d >= -1) {
    int x = 0, y = 0;
    for (int i = (d < 0 ? replace_whole(q, ops) : read_back(q, d, ops)) - 1; i >= 0; i--) {
      bool a = ops[i] != '+', b = ops[i] != '-';
      push(out, a ? q->a[x] : (Line){0}, b ? q->b[y] : (Line){0}, a ? first + x + 1 : 0,
           b ? first + y + 1 : 0);
      x += a;
      y += b;
    }
  }
  for (int i = 0; q->rounds && i <= MOST_EDITS; i++) free(q->rounds[i]);
  free(q->rounds);
  free(ops);
  return d >= -1;
}

bool diff_texts(const char *before, const char *after, Diff *out) {
  Lines a = {0}, b = {0};
  *out = (Diff){0};
  bool ok = read_lines(before, &a) && read_lines(after, &b);
  if (ok) out->at = calloc((size_t)(a.n + b.n) + 1, sizeof *out->at);
  ok = ok && out->at;
  if (ok) {
    int start = 0, end = 0;
    while (start < a.n && start < b.n && same(a.at[start], b.at[start])) start++;
    while (end < a.n - start && end < b.n - start && same(a.at[a.n - 1 - end], b.at[b.n - 1 - end]))
      end++;
    for (int i = 0; i < start; i++) push(out, a.at[i], b.at[i], i + 1, i + 1);
    Middle q = {a.at + start, b.at + start, a.n - start - end, b.n - start - end, NULL};
    ok = diff_middle(&q, start, out);
    for (int i = 0; i < end && ok; i++) {
      int x = a.n - end + i, y = b.n - end + i;
      push(out, a.at[x], b.at[y], x + 1, y + 1);
    }
  }
  if (!ok) free_diff(out);
  free(a.at);
  free(b.at);
  return ok;
}

void free_diff(Diff *d) {
  free(d->at);
  *d = (Diff){0};
}
