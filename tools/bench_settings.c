/* The cases of a bench: for each number of threads, each line of the suite (or the one line of the
 * -D options), the product of the lists of values. */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Axis {
  char *name;
  int n;
  char **values;
} Axis;
enum { MOST_AXES = 16, MOST_CASES = 1000 };
typedef struct Line {
  char *kernel;
  int n;
  Axis axes[MOST_AXES];
} Line;
typedef struct Suite {
  const char *name, *help, *text;
} Suite;
static const Suite suites[] = {
#define SUITE(name, help, text) {name, help, text},
#include "suites.def"
#undef SUITE
};
enum { N_SUITES = sizeof suites / sizeof *suites };

/* --- reading -----------------------------------------------------------------------------------
 */

/* The next value of a list: commas within brackets do not count. */
static const char *value_end(const char *p) {
  int depth = 0;
  for (; *p && (depth > 0 || *p != ','); p++) {
    if (*p == '(' || *p == '[') depth++;
    if (*p == ')' || *p == ']') depth--;
  }
  return p;
}

static void free_axis(Axis *a) {
  for (int i = 0; i < a->n; i++) free(a->values[i]);
  free(a->values);
  free(a->name);
  *a = (Axis){0};
}

static bool read_axis(const char *text, Axis *a) {
  const char *p = strchr(text, '=');
  if (!p || p == text) return false;
  a->name = strndup(text, (size_t)(p - text));
  do {
    const char *start = ++p;
    p = value_end(start);
    char **grown = realloc(a->values, ((size_t)a->n + 1) * sizeof *grown);
    if (grown) a->values = grown;
    if (!grown || p == start) return false;
    a->values[a->n++] = strndup(start, (size_t)(p - start));
  } while (*p == ',');
  return true;
}

/* Adds an axis, or replaces the one of that name. */
static bool add_axis(Line *l, const char *text) {
  Axis a = {0};
  int i = 0;
  if (!read_axis(text, &a)) {
    free_axis(&a);
    return false;
  }
  while (i < l->n && strcmp(l->axes[i].name, a.name) != 0) i++;
  if (i == MOST_AXES) {
    free_axis(&a);
    return false;
  }
  if (i == l->n)
    l->n++;
  else
    free_axis(&l->axes[i]);
  l->axes[i] = a;
  return true;
}

static int count_cases(const Line *l) {
  int n = 1;
  for (int i = 0; i < l->n; i++) {
    if (l->axes[i].n > MOST_CASES / n) return MOST_CASES + 1;
    n *= l->axes[i].n;
  }
  return n;
}

/* --- cases -------------------------------------------------------------------------------------
 */

/* Number i of the line's product; the last axis runs fastest. */
static void choose(const Line *l, int i, Case *k) {
  char text[512] = "";
  size_t used = 0;
  k->kernel = strdup(l->kernel);
  k->n_defines = l->n;
  k->defines = calloc((size_t)l->n + 1, sizeof *k->defines);
  for (int a = l->n - 1; k->defines && a >= 0; a--) {
    const Axis *axis = &l->axes[a];
    k->defines[a] = (tirc_define){strdup(axis->name), strdup(axis->values[i % axis->n])};
    i /= axis->n;
  }
  for (int a = 0; k->defines && a < l->n && used < sizeof text; a++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", a ? " " : "",
                             k->defines[a].name, k->defines[a].value);
  k->setting = strdup(text);
}

static int add_line(Bench *b, const Line *l) {
  int n = count_cases(l);
  if (n > MOST_CASES - b->n_cases)
    return complain(b->o, NULL, "at most %d settings in all", MOST_CASES);
  Case *grown = realloc(b->cases, (size_t)(b->n_cases + n) * sizeof *grown);
  if (!grown) return complain(b->o, NULL, "out of memory");
  b->cases = grown;
  for (int i = 0; i < n; i++) {
    b->cases[b->n_cases] = (Case){0};
    choose(l, i, &b->cases[b->n_cases++]);
  }
  return DONE;
}

static int read_defines(const Bench *b, Line *l) {
  for (int i = 0; i < b->o->define.n; i++)
    if (!add_axis(l, b->o->define.at[i]))
      return complain(b->o, "write -D M=16,32", "-D takes NAME=VALUE,VALUE,..., not '%s'",
                      b->o->define.at[i]);
  return DONE;
}

static void free_line(Line *l) {
  for (int i = 0; i < l->n; i++) free_axis(&l->axes[i]);
  free(l->kernel);
}

/* A line of a suite, with the -D options over it; a blank one or a comment has no cases. */
static int read_line(Bench *b, const char *file, int number, char *text) {
  char *rest = NULL, *word;
  int status = DONE;
  Line l = {0};
  text[strcspn(text, "#")] = 0;
  word = strtok_r(text, " \t\r", &rest);
  if (!word) return DONE;
  l.kernel = strdup(word);
  if (strchr(word, '='))
    status = complain(b->o, "a line is: KERNEL NAME=VALUE,VALUE... NAME=VALUE...",
                      "%s:%d: '%s' stands where the kernel's name should", file, number, word);
  while (status == DONE && (word = strtok_r(NULL, " \t\r", &rest)) != NULL)
    if (!add_axis(&l, word))
      status = complain(b->o, "write M=16,32", "%s:%d: '%s' is not NAME=VALUE,VALUE,...", file,
                        number, word);
  if (status == DONE) status = read_defines(b, &l);
  if (status == DONE) status = add_line(b, &l);
  free_line(&l);
  return status;
}

static int read_suite_text(Bench *b, const char *file, char *text) {
  int status = DONE, number = 0;
  for (char *line = text, *end; line && status == DONE; line = end) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    status = read_line(b, file, ++number, line);
  }
  if (status == DONE && b->n_cases == 0)
    status = complain(b->o, NULL, "%s: the suite is empty", file);
  return status;
}

static char *read_whole(const char *path) {
  enum { MOST = 1 << 20 };
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
  char *text = f ? calloc(1, MOST + 1) : NULL;
  if (text) text[fread(text, 1, MOST, f)] = 0;
  bool ok = f && !ferror(f);
  if (f && f != stdin) fclose(f);
  if (ok) return text;
  free(text);
  return NULL;
}

static int read_suite(Bench *b, const char *name) {
  char *text = NULL, names[256] = "";
  for (int i = 0; i < N_SUITES; i++) {
    if (strcmp(suites[i].name, name) == 0) text = strdup(suites[i].text);
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s (%s)", i ? ", " : "",
             suites[i].name, suites[i].help);
  }
  if (!text) {
    char hint[512];
    text = read_whole(name);
    snprintf(hint, sizeof hint, "a file with lines like `qkv M=16,32 K=768 N=768`, or one of: %s",
             names);
    if (!text) return complain(b->o, hint, "there is no suite '%s': %s", name, strerror(errno));
  }
  int status = read_suite_text(b, name, text);
  free(text);
  return status;
}

/* Every case once more for each further number of threads. */
static int multiply_threads(Bench *b) {
  int n = b->n_cases;
  Case *all = calloc((size_t)(n * b->n_threads) + 1, sizeof *all);
  if (!all) return complain(b->o, NULL, "out of memory");
  for (int t = 0; t < b->n_threads; t++)
    for (int i = 0; i < n; i++) {
      Case *to = &all[t * n + i], *from = &b->cases[i];
      *to = (Case){.kernel = strdup(from->kernel), .setting = strdup(from->setting)};
      to->n_defines = from->n_defines;
      to->defines = calloc((size_t)from->n_defines + 1, sizeof *to->defines);
      for (int d = 0; to->defines && d < from->n_defines; d++)
        to->defines[d] =
            (tirc_define){strdup(from->defines[d].name), strdup(from->defines[d].value)};
      to->threads = b->threads[t].threads;
      to->executor = b->threads[t].executor;
    }
  free_cases(b);
  b->cases = all;
  b->n_cases = n * b->n_threads;
  return DONE;
}

int make_cases(Bench *b) {
  int status;
  if (b->o->suite)
    status = read_suite(b, b->o->suite);
  else {
    Line l = {.kernel = shown_stem(b->o->args.at[0])};
    status = read_defines(b, &l);
    if (status == DONE) status = add_line(b, &l);
    free_line(&l);
  }
  return status == DONE ? multiply_threads(b) : status;
}

void free_cases(Bench *b) {
  for (int i = 0; i < b->n_cases; i++) {
    Case *k = &b->cases[i];
    for (int c = 0; k->contenders && c < k->n_contenders; c++) {
      free(k->contenders[c].name);
      free(k->contenders[c].turns);
      free(k->contenders[c].failure);
    }
    for (int d = 0; k->defines && d < k->n_defines; d++) {
      free((char *)(uintptr_t)k->defines[d].name);
      free((char *)(uintptr_t)k->defines[d].value);
    }
    free(k->contenders);
    free(k->defines);
    free(k->setting);
    free(k->kernel);
  }
  free(b->cases);
  b->cases = NULL;
  b->n_cases = 0;
}
