#include "tune_sizes.h"

#include <string.h>

enum { MOST_SIZES = 8 };

/* A number or a range of each size. */
typedef struct Combination {
  int n;
  tirc_size_range at[MOST_SIZES];
} Combination;

static int64_t middle_of(const tirc_size_range *r) { return (r->least + r->most + 1) / 2; }

static char *text_of(const Combination *k) {
  char *text = tirc_strdup(memory, "");
  for (int i = 0; i < k->n; i++) {
    const tirc_size_range *r = &k->at[i];
    const char *end = r->least < r->most ? tirc_format(memory, "-%lld", (long long)r->most) : "";
    text =
        tirc_format(memory, "%s%s%s=%lld%s", text, i ? " " : "", r->name, (long long)r->least, end);
  }
  return text;
}

/* A case for these sizes, measured at the middle of each range. */
static int add_case(Bench *b, const Case *from, const Combination *k) {
  tirc_error *e = NULL;
  Case *to = one_more(b->cases, b->n_cases);
  *to = *from;
  to->program = NULL;
  for (int i = 0; i < from->at.n_defines; i++)
    for (int j = 0; j < k->n; j++)
      if (!strcmp(from->at.defines[i].name, k->at[j].name))
        return complain("leave it out", "-D %s=%s is a size that --sizes has", k->at[j].name,
                        from->at.defines[i].value);
  if (tirc_module_for_sizes(from->program, k->n, k->at, &to->program, &e)) return report(e);
  to->at.kernel = name_of_case(from);
  to->at.setting = text_of(k);
  tirc_define *defines =
      tirc_alloc_array(memory, (size_t)(from->at.n_defines + k->n) + 1, sizeof *defines);
  int n = 0;
  for (; n < from->at.n_defines; n++) defines[n] = from->at.defines[n];
  for (int i = 0; i < k->n; i++)
    if (is_size(to->program, k->at[i].name))
      defines[n++] = (tirc_define){k->at[i].name,
                                   tirc_format(memory, "%lld", (long long)middle_of(&k->at[i]))};
  to->at.defines = defines;
  to->at.n_defines = n;
  return DONE;
}

/* The sizes from `first` on, combined with what k has. */
static int combine(Bench *b, const Case *from, int n, const tirc_size_range *all, int first,
                   Combination *k) {
  int status = DONE;
  if (first == n) return add_case(b, from, k);
  if (k->n == MOST_SIZES)
    return complain(NULL, "--sizes takes at most %d sizes here", (int)MOST_SIZES);
  int end = first;
  while (end < n && !strcmp(all[end].name, all[first].name)) end++;
  k->n++;
  for (int i = first; i < end && status == DONE; i++) {
    k->at[k->n - 1] = all[i];
    status = combine(b, from, n, all, end, k);
  }
  k->n--;
  return status;
}

static int split_case(Bench *b, Case *from, SizedCases *out) {
  tirc_size_range *all = NULL;
  tirc_error *e = NULL;
  int n = 0;
  if (tirc_module_sizes(from->program, &n, &all, &e)) return report(e);
  if (n) {
    tirc_module **kept = one_more(out->from, out->n);
    *kept = from->program;
  }
  int status = DONE;
  if (n)
    status = combine(b, from, n, all, 0, &(Combination){0});
  else
    *one_more(b->cases, b->n_cases) = *from;
  tirc_sizes_free(all);
  return status;
}

int cases_by_sizes(Bench *b, SizedCases *out) {
  Case *before = b->cases;
  const int n = b->n_cases;
  int status = DONE;
  *out = (SizedCases){0};
  b->cases = NULL;
  b->n_cases = 0;
  for (int i = 0; i < n && status == DONE; i++) status = split_case(b, &before[i], out);
  return status;
}

int keep_sizes(const SizedCases *s, const char *database, const char *target) {
  int status = DONE;
  tirc_error *e = NULL;
  for (int i = 0; i < s->n && status == DONE; i++)
    if (tirc_module_keep_sizes(s->from[i], database, target, &e)) status = report(e);
  return status;
}

void free_sized_cases(SizedCases *s) {
  for (int i = 0; i < s->n; i++) tirc_module_free(s->from[i]);
  *s = (SizedCases){0};
}
