/* The cases of a bench: for each number of threads, each line of the suite (or the one line of the
 * -D options), the product of the lists of values. */
#include "settings.h"

#include <string.h>

enum { MOST_CASES = 1000 };

/* --- reading ---------------------------------------------------------------------------------- */

/* The next value of a list: commas within brackets do not count. */
static const char *value_end(const char *p) {
  int depth = 0;
  for (; *p && (depth > 0 || *p != ','); p++) {
    if (*p == '(' || *p == '[') depth++;
    if (*p == ')' || *p == ']') depth--;
  }
  return p;
}

static bool read_axis(const char *text, Axis *a) {
  const char *p = strchr(text, '=');
  if (!p || p == text) return false;
  a->name = tirc_strndup(memory, text, (size_t)(p - text));
  do {
    const char *start = ++p;
    p = value_end(start);
    if (p == start) return false;
    *one_more(a->values, a->n) = tirc_strndup(memory, start, (size_t)(p - start));
  } while (*p == ',');
  return true;
}

bool add_axis(Line *l, const char *text) {
  Axis a = {0};
  int i = 0;
  if (!read_axis(text, &a)) return false;
  while (i < l->n && strcmp(l->axes[i].name, a.name) != 0) i++;
  if (i == MOST_AXES) return false;
  if (i == l->n) l->n++;
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

/* --- cases ------------------------------------------------------------------------------------ */

/* Number i of the line's product; the last axis runs fastest. */
static void choose(const Line *l, int i, Case *k) {
  char text[512] = "";
  size_t used = 0;
  k->at.kernel = tirc_strdup(memory, l->kernel);
  k->file = copied(l->file);
  k->text = l->text;
  k->line = l->number;
  k->at.calls = l->calls > 0 ? l->calls : 1;
  k->at.n_defines = l->n;
  k->at.defines = tirc_alloc_array(memory, (size_t)l->n + 1, sizeof *k->at.defines);
  for (int a = l->n - 1; k->at.defines && a >= 0; a--) {
    const Axis *axis = &l->axes[a];
    k->at.defines[a] = (tirc_define){tirc_strdup(memory, axis->name),
                                     tirc_strdup(memory, axis->values[i % axis->n])};
    i /= axis->n;
  }
  for (int a = 0; k->at.defines && a < l->n && used < sizeof text; a++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", a ? " " : "",
                             k->at.defines[a].name, k->at.defines[a].value);
  k->at.setting = tirc_strdup(memory, text);
}

int add_line(Bench *b, const Line *l) {
  int n = count_cases(l);
  if (n > MOST_CASES - b->n_cases) return complain(NULL, "at most %d settings in all", MOST_CASES);
  for (int i = 0; i < n; i++) choose(l, i, one_more(b->cases, b->n_cases));
  return DONE;
}

char *name_of_case(const Case *k) {
  char *name =
      tirc_format(memory, "%s%s%s", k->at.kernel, *k->at.setting ? "/" : "", k->at.setting);
  for (char *p = name; *p; p++)
    if (*p == ' ') *p = ',';
  return name;
}

static int read_defines(const Bench *b, Line *l) {
  const List *define = &b->o->make.from.define;
  for (int i = 0; i < define->n; i++)
    if (!add_axis(l, define->at[i]))
      return complain("write -D M=16,32", "-D takes NAME=VALUE,VALUE,..., not '%s'", define->at[i]);
  return DONE;
}

int multiply_threads(Bench *b) {
  int n = b->n_cases;
  Case *all = tirc_alloc_array(memory, (size_t)(n * b->n_threads) + 1, sizeof *all);
  for (int t = 0; t < b->n_threads; t++)
    for (int i = 0; i < n; i++) {
      Case *to = &all[t * n + i];
      *to = b->cases[i];
      to->at.threads = b->threads[t].threads;
      to->executor = b->threads[t].executor;
    }
  b->cases = all;
  b->n_cases = n * b->n_threads;
  return DONE;
}

bool has_contenders(const Bench *b) {
  const int n = b->o->make.from.args.n;
  return n > 1 || (n == 1 && (b->how.vs || b->how.ablate || b->o->make.automatic || b->how.tuned));
}

int usage_of_bench(void) {
  return complain("name a schedule script, --auto, or --vs openblas",
                  "usage: tirc bench PROG SCHED..., or tirc bench --suite operators");
}

/* Who names the programs: the suite or the command line. */
static int check_programs(const Bench *b, const char *suite) {
  const List *args = &b->o->make.from.args;
  if (b->of_programs && b->how.ablate)
    return complain("name one program: tirc bench PROG --ablate SCHED",
                    "--ablate measures one schedule, and the suite '%s' has programs of its own",
                    suite);
  if (b->of_programs && args->n)
    return complain("leave it out: tirc bench --suite SUITE",
                    "the suite '%s' names its programs, and so does '%s'", suite, args->at[0]);
  if (b->of_programs || (b->tunes && args->n) || has_contenders(b)) return DONE;
  if (args->n) return usage_of_bench();
  return complain("name a program for it: tirc bench PROG SCHED... --suite SUITE",
                  "the suite '%s' has sizes, but no programs", suite);
}

int make_cases(Bench *b, const char *suite) {
  const List *args = &b->o->make.from.args;
  int status;
  if (suite) {
    status = read_suite(b, suite, &b->o->make.from.define);
    if (status == DONE) status = check_programs(b, suite);
  } else if (b->tunes && args->n > 1) {
    status = read_programs(b);
  } else {
    Line l = {.kernel = shown_stem(args->at[0])};
    status = read_defines(b, &l);
    if (status == DONE) status = add_line(b, &l);
  }
  return status == DONE ? multiply_threads(b) : status;
}

void free_cases(Bench *b) {
  for (int i = 0; i < b->n_cases; i++) {
    Case *k = &b->cases[i];
    release_samples(k);
    for (int c = 0; c < k->n_contenders; c++) tirc_figures_clear(&k->contenders[c].f);
  }
  b->cases = NULL;
  b->n_cases = 0;
}
