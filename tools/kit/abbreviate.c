/* A long program in a message: the underlined lines with what stands around them, and the loops and
 * blocks that they are in. The rest is left out. */
#include "kit.h"

#include <string.h>

enum { LONG = 60, CONTEXT = 3 };

typedef struct Line {
  const char *at;
  size_t n, indent;
  bool kept;
} Line;

static bool is_underline(const Line *l) {
  return l->n > l->indent && strspn(l->at + l->indent, "^ ") >= l->n - l->indent;
}

static int split_lines(const char *text, Line *out) {
  int n = 0;
  for (const char *p = text; *p;) {
    const size_t length = strcspn(p, "\n");
    if (out) out[n] = (Line){.at = p, .n = length, .indent = strspn(p, " ")};
    n++;
    p += length + (p[length] != 0);
  }
  return n;
}

/* The line, its neighbours, and each line above that is indented less than all below it. */
static void keep_around(Line *lines, int n, int at) {
  for (int i = at - CONTEXT; i <= at + CONTEXT + 1; i++)
    if (i >= 0 && i < n) lines[i].kept = true;
  size_t indent = lines[at].indent;
  for (int i = at; i >= 0; i--) {
    if (!lines[i].n || lines[i].indent >= indent) continue;
    lines[i].kept = true;
    indent = lines[i].indent;
  }
}

char *abbreviate(const char *text) {
  const int n = split_lines(text, NULL);
  if (n <= LONG) return tirc_strdup(memory, text);
  Line *lines = tirc_alloc_array(memory, (size_t)n + 1, sizeof *lines);
  char *out = NULL;
  size_t size = 0;
  FILE *f = begin_text(&out, &size);
  split_lines(text, lines);
  bool marked = false;
  for (int i = 1; i < n; i++) {
    if (!is_underline(&lines[i])) continue;
    keep_around(lines, n, i - 1);
    marked = true;
  }
  int left_out = 0;
  for (int i = 0; i <= n; i++) {
    if (i < n && !lines[i].kept && (marked || i >= LONG)) {
      left_out++;
      continue;
    }
    if (left_out)
      fprintf(f, "# ... %d line%s (--full shows all)\n", left_out, left_out > 1 ? "s" : "");
    left_out = 0;
    if (i < n) fprintf(f, "%.*s\n", (int)lines[i].n, lines[i].at);
  }
  return end_text(f, &out);
}
