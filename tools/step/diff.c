/* Myers' algorithm ("An O(ND) difference algorithm and its variations", 1986): the furthest line
 * that each diagonal reaches with d edits, for d = 0, 1, ...; every round is kept, and the path is
 * read off backwards. Texts that differ in more than MOST_EDITS lines are replaced whole. */
#include "diff.h"

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

static Lines read_lines(Tirc *c, const char *text) {
  Lines out = {0};
  size_t count = 0;
  for (const char *s = text; *s; s++) count += *s == '\n' || !s[1];
  out.at = tirc_alloc_array(c, count + 1, sizeof *out.at);
  for (const char *s = text; *s;) {
    size_t n = strcspn(s, "\n");
    out.at[out.n++] = (Line){s, n};
    s += n + (s[n] == '\n');
  }
  return out;
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

/* The number of edits; -1: too many. */
static int search(Tirc *c, Middle *q) {
  for (int d = 0; d <= MOST_EDITS; d++) {
    q->rounds[d] = tirc_alloc_array(c, (size_t)(2 * d + 1), sizeof **q->rounds);
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

static void diff_middle(Tirc *c, Middle *q, int first, Diff *out) {
  char *ops = tirc_alloc(c, (size_t)(q->n + q->m) + 1);
  q->rounds = tirc_alloc_array(c, MOST_EDITS + 1, sizeof *q->rounds);
  const int d = search(c, q);
  int x = 0, y = 0;
  for (int i = (d < 0 ? replace_whole(q, ops) : read_back(q, d, ops)) - 1; i >= 0; i--) {
    bool a = ops[i] != '+', b = ops[i] != '-';
    push(out, a ? q->a[x] : (Line){0}, b ? q->b[y] : (Line){0}, a ? first + x + 1 : 0,
         b ? first + y + 1 : 0);
    x += a;
    y += b;
  }
}

Diff diff_texts(Tirc *c, const char *before, const char *after) {
  const Lines a = read_lines(c, before), b = read_lines(c, after);
  Diff out = {.at = tirc_alloc_array(c, (size_t)(a.n + b.n) + 1, sizeof *out.at)};
  const ArenaMark mark = tirc_mark(c);
  int start = 0, end = 0;
  while (start < a.n && start < b.n && same(a.at[start], b.at[start])) start++;
  while (end < a.n - start && end < b.n - start && same(a.at[a.n - 1 - end], b.at[b.n - 1 - end]))
    end++;
  for (int i = 0; i < start; i++) push(&out, a.at[i], b.at[i], i + 1, i + 1);
  Middle q = {a.at + start, b.at + start, a.n - start - end, b.n - start - end, NULL};
  diff_middle(c, &q, start, &out);
  for (int i = 0; i < end; i++) {
    int x = a.n - end + i, y = b.n - end + i;
    push(&out, a.at[x], b.at[y], x + 1, y + 1);
  }
  tirc_rewind(c, mark);
  return out;
}
