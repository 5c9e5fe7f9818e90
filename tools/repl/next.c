/* `next`: what could be done next, as tools/next finds it, shown, measured and taken. */
#include "repl.h"
#include "tools/bench/bench.h"

#include <string.h>

enum { SHOWN = 12 };
static const double TOO_SLOW = 20;

/* --- measuring -------------------------------------------------------------------------------- */

/* How well x foretells y: most calls change little, and their order is noise; so the pairs that
 * differ by a fifth when measured are told of as well. A tie of the estimate is half right. */
static void print_agreement(const double *x, const double *y, int n) {
  double right = 0;
  int pairs = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      if (y[k] < 1.2 * y[i]) continue;
      right += x[k] > x[i] ? 1 : x[k] == x[i] ? 0.5 : 0;
      pairs++;
    }
  printf("rank correlation of estimate and measurement: %.2f", tirc_rank_correlation(n, x, y, 1));
  if (pairs)
    printf("; %.0f %% of the %d pairs that differ by a fifth in the right order",
           100 * right / pairs, pairs);
  putchar('\n');
}

/* seconds[0] is the program as it is, seconds[i] with call i; 0 where nothing was measured. */
static void print_measured(const Proposals *p, const double *seconds) {
  double *x = tirc_alloc_array(memory, 2 * MOST_PROPOSALS, sizeof *x),
         *y = x ? x + MOST_PROPOSALS : NULL;
  int n = 0;
  printf("\n  #  estimate  measured (the least time of a call)\n");
  for (int i = 0; x && i < p->shown; i++) {
    const Proposal *at = &p->at[i];
    printf("%3d  %7.2fx  ", i + 1, p->now / at->cycles);
    if (seconds[0] > 0 && seconds[i + 1] > 0) {
      x[n] = at->cycles, y[n++] = seconds[i + 1];
      printf("%7.2fx  %s\n", seconds[0] / seconds[i + 1], at->text);
    } else {
      printf("%8s  %s\n", "-", at->text);
    }
  }
  if (n > 2) print_agreement(x, y, n);
}

/* What was shown, but for calls that seem to make the program TOO_SLOW times slower. */
static int measure(const Repl *r, const Proposals *p) {
  size_t n = 1;
  char **scripts = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *scripts);
  char(*names)[24] = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *names);
  const char **pointers = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *pointers);
  double *seconds = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *seconds);
  while (n <= (size_t)p->shown && p->at[n - 1].cycles < TOO_SLOW * p->now) n++;
  for (size_t i = 0; i < n; i++) {
    char *line = tirc_format(memory, "%s\n", i ? p->at[i - 1].text : "None");
    snprintf(names[i], sizeof names[i], i ? "%zu" : "now", i);
    pointers[i] = names[i];
    scripts[i] = script_of(r, line);
  }
  int status = bench_scripts(r, (int)n, pointers, scripts, seconds);
  if (status == DONE) print_measured(p, seconds);
  return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static void print_proposals(const Proposals *p) {
  for (int i = 0; i < p->shown; i++)
    printf("%3d  %6.2fx  %s\n", i + 1, p->now / p->at[i].cycles, p->at[i].text);
  printf("%d legal call%s%s; x: how much faster by an estimate\n", p->n, plural(p->n),
         p->n > p->shown ? ", the best of them (--all: all)" : "");
}

/* Takes the last word off when it is `flag`. */
static bool take_flag(char *text, const char *flag) {
  size_t n = strlen(text), m = strlen(flag);
  while (n && text[n - 1] == ' ') n--;
  bool is_it = n >= m && strncmp(text + n - m, flag, m) == 0 && (n == m || text[n - m - 1] == ' ');
  text[is_it ? n - m : n] = 0;
  return is_it;
}

/* The accepted lines are the script; its threads are those that it would run on. */
static int search(const Repl *r, const char *focus, Proposals *out) {
  const Making *make = &r->o->run.make;
  tirc_executor *x = NULL;
  tirc_error *e = NULL;
  if (tirc_executor_new(make->threads, &x, &e)) return report(e);
  const NextQuestion ask = {.program = r->program,
                            .now = module_now(r),
                            .script = script_of(r, NULL),
                            .script_name = "<session>",
                            .target = make->from.target,
                            .focus = focus,
                            .max_steps = make->from.script_steps,
                            .threads = tirc_executor_threads(x),
                            .go_on = may_go_on};
  const int status = find_next(&ask, out, &e);
  tirc_executor_free(x);
  return status == BAD ? report(e)
         : status == NO
             ? complain("`blocks` and `loops` list them", "there is no block or loop '%s'", focus)
             : DONE;
}

int propose(Repl *r, const char *argument) {
  char *focus = tirc_strdup(memory, argument);
  bool all = false, measured = false;
  Proposals *found = tirc_alloc(memory, sizeof *found);
  for (bool more = true; more;) {
    more = false;
    if (take_flag(focus, "--all")) all = more = true;
    if (take_flag(focus, "--measure")) measured = more = true;
  }
  int status = strstr(focus, "--")
                   ? complain(NULL, "usage: next [BLOCK|LOOP|N] [--all] [--measure]")
                   : search(r, focus, found);
  if (status != DONE) return status;
  found->shown = all || found->n < SHOWN ? found->n : SHOWN;
  print_proposals(found);
  r->proposals = found;
  return measured ? measure(r, found) : DONE;
}

int pick_proposal(Repl *r, int number) {
  char line[PROPOSAL_TEXT + 2];
  if (!r->proposals)
    return complain("call `next` without a number first", "nothing was proposed yet");
  if (number > r->proposals->shown)
    return complain(NULL, "there is no call %d among those that were shown", number);
  snprintf(line, sizeof line, "%s\n", r->proposals->at[number - 1].text);
  fputs(line, stdout);
  return accept_line(r, line);
}
