/* Large nests of which it is known what is legal, and what the library says of them:
 *
 *   large_nests [--nests N] [--seed S] [--calls LIST] [--first K] [--verbose] [--refused]
 *
 * Each nest is a program with large, prime or symbolic extents and one call. Whether that is legal
 * follows from how the nest was made (nests_ways.c), or shows when all of its instances are run in
 * both orders (nests_model.c); where both are known, they have to agree. It is a failure
 *
 *   - if an illegal call is accepted,
 *   - if a message names two iterations that do not meet (nests_witness.c),
 *   - if the library says something else in another context.
 *
 * How many legal calls are refused is counted, and by what: a definition that the call has in the
 * reference as well, or because it was not proved. */
#include "nests.h"
#include "runtime/tirc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CODES = 64, MAX_TRIES = 60 };

typedef struct Settings {
  uint64_t seed;
  bool calls[N_CALLS];
  bool verbose, refused;
} Settings;

typedef struct CodeCount {
  const char *code; /* of the library's table */
  bool unproved;    /* it is not known whether it is legal */
  long legal, illegal;
} CodeCount;

typedef struct CallCount {
  long legal, illegal, wrong;
  long refused, unproved, met; /* legal; met: iterations meet, though that does not count */
  int n_codes;
  CodeCount codes[MAX_CODES];
} CallCount;

typedef struct Stats {
  CallCount of[N_CALLS];
  long by_formula, by_run, both, undrawn;
  long witnesses, false_witnesses, open_witnesses, unstable, faults;
} Stats;

/* --- the library's word ---------------------------------------------------------------------- */

typedef struct Verdict {
  tirc_status status;
  bool parsed;
  char *code, *message, *condition; /* NULL: there is none */
} Verdict;

static char *copy(const char *s) { return s ? strdup(s) : NULL; }

/* In a context of its own. */
static Verdict ask(const char *program, const char *script) {
  tirc_module *m = NULL, *after = NULL;
  tirc_error *e = NULL;
  Verdict v = {0};
  v.status = tirc_module_parse(program, strlen(program), "nest.tir", 0, NULL, &m, &e);
  v.parsed = v.status == TIRC_OK;
  if (v.parsed)
    v.status = tirc_module_schedule_text(m, script, strlen(script), "nest.sch", NULL, &after, &e);
  if (e) {
    v.code = copy(tirc_error_get(e, TIRC_ERROR_CODE));
    v.message = copy(tirc_error_message(e));
    v.condition = copy(tirc_error_get(e, TIRC_ERROR_CONDITION));
  }
  tirc_error_free(e);
  tirc_module_free(after);
  tirc_module_free(m);
  return v;
}

static void verdict_free(Verdict *v) {
  free(v->code);
  free(v->message);
  free(v->condition);
}

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }
static bool same_verdict(const Verdict *a, const Verdict *b) {
  return a->status == b->status && same_text(a->code, b->code) &&
         same_text(a->message, b->message) && same_text(a->condition, b->condition);
}

static bool says_unproved(const Verdict *v) {
  static const char *const words[] = {"for sure", "provable", "proved", "not known",
                                      "cannot be known"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if ((v->message && strstr(v->message, words[i])) ||
        (v->condition && strstr(v->condition, words[i])))
      return true;
  return false;
}

/* --- the truth ------------------------------------------------------------------------------- */

/* By the formula and by runs, as far as there are such; FAULT when they contradict each other, or
 * the program is wrong. */
static Truth truth_of(Nest *n, Stats *stats, const char **why) {
  static const int64_t few[][NEST_SYMBOLS] = {{1, 1}, {2, 3}, {9, 9}, {130, 65}};
  Truth by_run = TRUTH_UNKNOWN;
  bool ran = false;
  *why = n->why;
  for (int i = n->n_symbols ? -1 : 0; i < (n->n_symbols ? 4 : 1); i++) {
    const char *of_run = NULL;
    const Truth t = nest_run(n, i < 0 ? n->telling : few[i], &of_run);
    if (t == TRUTH_UNKNOWN) continue;
    ran |= i < 0 || !n->n_symbols;
    if (t == TRUTH_FAULT || (t == TRUTH_ILLEGAL && n->formula == TRUTH_LEGAL)) {
      *why =
          tirc_format(n->c, "at sizes %lld, %lld: %s", (long long)(i < 0 ? n->telling : few[i])[0],
                      (long long)(i < 0 ? n->telling : few[i])[1], of_run);
      return TRUTH_FAULT;
    }
    if (by_run != TRUTH_ILLEGAL) by_run = t;
    if (t == TRUTH_ILLEGAL && !n->why) *why = of_run;
  }
  if (n->harmless && n->formula == TRUTH_ILLEGAL) n->formula = TRUTH_UNKNOWN;
  if (!n->formula && n->n_symbols && by_run == TRUTH_LEGAL) return TRUTH_UNKNOWN;
  if (ran && by_run == TRUTH_LEGAL && n->formula == TRUTH_ILLEGAL) {
    *why = tirc_format(n->c, "it runs as before, in spite of this: %s", n->why);
    return TRUTH_FAULT;
  }
  const Truth out = n->formula ? n->formula : by_run;
  if (out == TRUTH_UNKNOWN) return out;
  stats->both += n->formula && ran;
  stats->by_formula += n->formula && !ran;
  stats->by_run += !n->formula;
  return out;
}

/* --- one nest -------------------------------------------------------------------------------- */

static void print_nest(long number, const Nest *n, const char *what, const char *why,
                       const Verdict *v) {
  printf("nest %ld (%s): %s%s%s\n--- program\n%s--- schedule\n%s", number, n->kind, what,
         why ? ": " : "", why ? why : "", nest_program(n), nest_script(n));
  if (v && v->code)
    printf("--- says [%s] %s\n    %s\n", v->code, v->message, v->condition ? v->condition : "");
  printf("\n");
}

static void count_code(CallCount *k, const char *code, bool unproved, bool legal) {
  int i = 0;
  while (i < k->n_codes && (strcmp(k->codes[i].code, code) || k->codes[i].unproved != unproved))
    i++;
  if (i == k->n_codes) {
    const char *kept = "other";
    tirc_error_info info;
    for (int e = 0; tirc_error_table(e, &info); e++)
      if (!strcmp(info.code, code)) kept = info.code;
    if (k->n_codes == MAX_CODES) return;
    k->codes[k->n_codes++] = (CodeCount){.code = kept, .unproved = unproved};
  }
  *(legal ? &k->codes[i].legal : &k->codes[i].illegal) += 1;
}

static void judge(long number, Nest *n, Truth truth, const char *why, const Settings *set,
                  Stats *stats) {
  CallCount *k = &stats->of[n->call];
  const char *program = nest_program(n), *script = nest_script(n), *lie = NULL;
  Verdict v = ask(program, script), again = ask(program, script);
  const bool legal = truth == TRUTH_LEGAL, accepted = v.status == TIRC_OK;
  *(legal ? &k->legal : &k->illegal) += 1;
  if (!v.parsed || v.status == TIRC_BAD) {
    stats->faults++;
    print_nest(number, n, "it is not a program, or no call", NULL, &v);
  } else if (accepted && !legal) {
    k->wrong++;
    print_nest(number, n, "accepted, and illegal", why, NULL);
  } else if (!accepted) {
    const bool unproved = says_unproved(&v);
    count_code(k, v.code, unproved, legal);
    k->refused += legal;
    k->unproved += legal && unproved;
    const WitnessVerdict w = nest_witness(n, v.condition, &lie);
    k->met += legal && w == WITNESS_TRUE;
    stats->witnesses += w == WITNESS_TRUE;
    stats->open_witnesses += w == WITNESS_OPEN;
    stats->false_witnesses += w == WITNESS_FALSE;
    if (w == WITNESS_FALSE) print_nest(number, n, "the message is not true", lie, &v);
    if (legal && set->refused) print_nest(number, n, "refused, and legal", NULL, &v);
  }
  if (!same_verdict(&v, &again)) {
    stats->unstable++;
    print_nest(number, n, "once this, then that", again.code ? again.condition : "accepted", &v);
  }
  if (set->verbose) print_nest(number, n, legal ? "legal" : "illegal", why, &v);
  verdict_free(&v);
  verdict_free(&again);
}

/* Half of the nests are to be legal; what is not of the kind that is looked for is drawn again. */
static bool draw_one(long number, Rng *r, Truth wanted, NestCall call, const Settings *set,
                     Stats *stats) {
  Tirc *c = tirc_context_new();
  Nest n = {.c = c, .call = call};
  const char *why = NULL;
  Stats of_this = *stats;
  Truth truth = TRUTH_UNKNOWN;
  if (rng_chance(r, 20) ? nest_draw_odd(r, &n) : nest_draw(r, &n))
    if (!n.formula || n.harmless || n.formula == wanted) truth = truth_of(&n, &of_this, &why);
  if (truth == TRUTH_FAULT) {
    of_this.faults++;
    print_nest(number, &n, "what is known contradicts itself", why, NULL);
  }
  const bool ok = truth == wanted || truth == TRUTH_FAULT;
  if (ok) *stats = of_this;
  if (truth == wanted) judge(number, &n, truth, why, set, stats);
  tirc_context_release(c);
  return ok;
}

static void one(long number, const Settings *set, Stats *stats) {
  Rng r = {set->seed * 1000003u + (uint64_t)number};
  NestCall call;
  do call = (NestCall)rng_below(&r, N_CALLS);
  while (!set->calls[call]);
  const Truth wanted = rng_chance(&r, 50) ? TRUTH_LEGAL : TRUTH_ILLEGAL;
  for (int i = 0; i < MAX_TRIES; i++)
    if (draw_one(number, &r, wanted, call, set, stats)) return;
  stats->undrawn++;
}

/* --- all of them ----------------------------------------------------------------------------- */

static void print_call(NestCall call, const CallCount *k) {
  printf("%-9s legal %ld, illegal %ld, wrongly accepted %ld, legal and refused %ld "
         "(not proved %ld, meet harmlessly %ld)\n",
         nest_calls[call], k->legal, k->illegal, k->wrong, k->refused, k->unproved, k->met);
  for (int i = 0; i < k->n_codes; i++)
    printf("  %-24s %-10s of legal %5ld, of illegal %5ld\n", k->codes[i].code,
           k->codes[i].unproved ? "unproved" : "", k->codes[i].legal, k->codes[i].illegal);
}

static bool read_calls(const char *list, Settings *set) {
  memset(set->calls, 0, sizeof set->calls);
  while (*list) {
    const size_t n = strcspn(list, ",");
    int k = 0;
    while (k < N_CALLS && (strlen(nest_calls[k]) != n || strncmp(nest_calls[k], list, n))) k++;
    if (k == N_CALLS) return false;
    set->calls[k] = true;
    list += n + (list[n] == ',');
  }
  return true;
}

static int usage(void) {
  fprintf(stderr, "usage: large_nests [OPTION]...\n\n"
                  "Large nests of which it is known which calls are legal.\n\n"
                  "  --nests N     how many (200)\n"
                  "  --seed S      of the random numbers (1)\n"
                  "  --calls LIST  which of reorder,parallel,vectorize,bind (all)\n"
                  "  --first K     begin with nest number K (0)\n"
                  "  --verbose     print each nest\n"
                  "  --refused     print those that are legal and refused\n");
  return 2;
}

int main(int argc, char **argv) {
  long n = 200, first = 0;
  Settings set = {.seed = 1, .calls = {true, true, true, true}};
  Stats stats = {0};
  CallCount all = {0};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--verbose"))
      set.verbose = true;
    else if (!strcmp(argv[i], "--refused"))
      set.refused = true;
    else if (i + 1 < argc && !strcmp(argv[i], "--nests"))
      n = strtol(argv[++i], NULL, 10);
    else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
      set.seed = strtoull(argv[++i], NULL, 10);
    else if (i + 1 < argc && !strcmp(argv[i], "--first"))
      first = strtol(argv[++i], NULL, 10);
    else if (i + 1 >= argc || strcmp(argv[i], "--calls") || !read_calls(argv[++i], &set))
      return usage();
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* what was found stays known if a call crashes */
  for (long i = first; i < first + n; i++) one(i, &set, &stats);
  for (int i = 0; i < N_CALLS; i++) {
    const CallCount *k = &stats.of[i];
    if (set.calls[i]) print_call((NestCall)i, k);
    all.legal += k->legal, all.illegal += k->illegal, all.wrong += k->wrong;
    all.refused += k->refused, all.unproved += k->unproved, all.met += k->met;
  }
  printf("large_nests: seed=%llu legal=%ld illegal=%ld wrongly_accepted=%ld legal_refused=%ld "
         "legal_unproved=%ld legal_met=%ld true_witnesses=%ld open_witnesses=%ld "
         "false_witnesses=%ld unstable=%ld "
         "faults=%ld undrawn=%ld by_formula=%ld by_run=%ld by_both=%ld\n",
         (unsigned long long)set.seed, all.legal, all.illegal, all.wrong, all.refused, all.unproved,
         all.met, stats.witnesses, stats.open_witnesses, stats.false_witnesses, stats.unstable,
         stats.faults, stats.undrawn, stats.by_formula, stats.by_run, stats.both);
  return all.wrong || stats.false_witnesses || stats.unstable || stats.faults ? 1 : 0;
}
