/* The two laws, tested on random programs and random schedules:
 *
 *   fuzz [--schedules N] [--seed S] [--calls N] [--wild PERCENT] [--verbose] [--stats]
 *        [--every-primitive] [--lower] [--outcomes] [--first PRIMITIVE] [CASE]...
 *
 * 1. A primitive preserves what the program computes, or raises: the reference interpreter runs
 * both.
 * 2. A failed primitive changes nothing: the module prints as before.
 * Parallel, vectorized and bound loops run in both directions, and their iterations must not race.
 * And every module on the way is well formed, and prints to a text that parses to the same module;
 * what the schedule knows of it is what one made anew from it finds, after calls that failed, too.
 *
 * A third of the programs (or --wild) are wild ones: fuzz_wild.h lists what they are full of, and
 * most faults are found among them. The others are plain nests of blocks. A wild one that cannot be
 * run, or whose own parallel loops race, is drawn again.
 *
 * With cases (files as in tests/cases), each schedule goes on with one of them, drawn at random:
 * the program after the case's own schedule, as far as that is legal. A program with symbols is run
 * with several sets of sizes for them, for which it can be run before the schedule.
 *
 * A counterexample is made small by leaving calls out, and printed as a program and a script.
 * --lower runs what each module is lowered to as well. --stats prints how many calls of each
 * primitive were legal and how many refused; with --every-primitive it is a failure if one was
 * never drawn legally, or never refused. --first starts each schedule with one primitive, to look
 * for what others do to a program that is rarely drawn. */
#include "fuzz.h"
#include "cases.h"
#include "passes/schedule/meaning/meaning.h"
#include "passes/schedule/shape/shape.h"
#include "passes/words/docs.h"

#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "ir/tree/visit.h"
#include "parser/program.h"
#include "passes/lower/lower.h"
#include "passes/script/script.h"
#include "runtime/interp/interp.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PARAMS = VALUES_MAX, MAX_CALLS = 12, MAX_STEPS = VALUES_MAX_STEPS, MAX_TRIES = 20 };
enum { MAX_SETS = 3, SETS_OF_SIZES = 100 }; /* of a program with symbols; to draw them from */

typedef struct Pair {
  const char *program;
  bool wild;
  const char *start;      /* a script that runs before the calls, or NULL */
  const Primitive *first; /* the calls are of it until one is legal; NULL: they are of any */
  int n_sets;
  int sets[MAX_SETS]; /* of sizes that the program is run with */
  int n_calls;
  const char *calls[MAX_CALLS];
} Pair;

typedef struct Settings {
  long seed;
  int calls; /* at most so many a schedule */
  int wild;  /* so many of 100 programs */
  const Primitive *first;
  bool verbose;
  int n_cases; /* 0: programs are drawn */
  char **cases;
} Settings;

typedef struct Stats {
  bool lower;       /* check that too */
  bool outcomes;    /* print what each call gives, and check nothing */
  long not_started; /* cases that cannot be gone on from */
  long wild, unfit; /* wild programs, and those that cannot be run */
  long legal, refused;
  long legal_of[MAX_PRIMITIVES], refused_of[MAX_PRIMITIVES];
} Stats;

static const char *interpret(Tirc *c, const Func *f, const Values *v,
                             const InterpObserver *observer) {
  return values_run(c, f, v, &(InterpOptions){.max_steps = MAX_STEPS, .observer = observer});
}

/* What the module is lowered to computes the same. */
static const char *check_lowered(Tirc *c, const Func *program, const Module *m,
                                 const Values *expected) {
  if (fuzz_is_at_users_risk(tirc_module_main(m))) return NULL;
  const Module *lowered = NULL;
  Trap t;
  if (!TIRC_TRY(c, t)) {
    const bool cannot = c->diag.code == CODE_LOWER;
    return cannot ? NULL
                  : tirc_format(c, "lowering it: [%s] %s", tirc_codes[c->diag.code].text,
                                c->diag.message);
  }
  lowered = tirc_lower(c, m, NULL, NULL);
  TIRC_END(c, t);
  Values got = {.seed = expected->seed, .set = expected->set, .tolerance = expected->tolerance};
  values_for(c, program, m, tirc_module_main(m), &got);
  const char *why = interpret(c, tirc_module_main(lowered), &got, NULL);
  if (!why) {
    values_relay(c, m, &got, program, true);
    why = values_differ(c, program, expected, &got);
  } else if (c->diag.code == CODE_STEPS) {
    why = NULL;
  }
  values_free(&got);
  return why ? tirc_format(c, "lowered: %s", why) : NULL;
}

static const char *check_text(Tirc *c, const Module *m) {
  const char *text = tirc_print_module(c, m, NULL);
  Trap t;
  if (TIRC_TRY(c, t)) {
    tirc_verify(c, m);
    Source source = {"printed.tir", text, strlen(text)};
    const char *why = tirc_module_difference(c, m, tirc_parse_module(c, &source, 0, NULL));
    TIRC_END(c, t);
    return why ? tirc_format(c, "printed and parsed it differs: %s", why) : NULL;
  }
  return tirc_format(c, "[%s] line %d: %s", tirc_codes[c->diag.code].text, c->diag.loc.line,
                     c->diag.message);
}

static bool run_line(Tirc *c, Sched *s, const char *line) {
  Source source = {"fuzz.sch", line, strlen(line)};
  Trap t;
  if (TIRC_TRY(c, t)) {
    tirc_run_script(s, &source, NULL, NULL, NULL, NULL);
    TIRC_END(c, t);
    return true;
  }
  return false;
}

/* Which primitive a call calls: the last line's "sch.split(...". */
static int primitive_of(const char *call) {
  const char *line = strrchr(call, '\n');
  const char *name = (line ? line + 1 : call) + strlen("sch.");
  size_t n = strcspn(name, "(");
  for (int i = 0; i < tirc_n_primitives && i < MAX_PRIMITIVES; i++)
    if (strlen(tirc_primitives[i].name) == n && strncmp(name, tirc_primitives[i].name, n) == 0)
      return i;
  return 0;
}

static void print_stats(const Stats *stats) {
  for (int i = 0; i < tirc_n_primitives && i < MAX_PRIMITIVES; i++)
    printf("%-26s %8ld legal %8ld refused\n", tirc_primitives[i].name, stats->legal_of[i],
           stats->refused_of[i]);
  printf("%-26s %8ld drawn %8ld that cannot be run\n", "wild programs", stats->wild, stats->unfit);
}

/* How many primitives were not drawn in both ways. */
static int print_undrawn(const Stats *stats) {
  int n = 0;
  for (int i = 0; i < tirc_n_primitives && i < MAX_PRIMITIVES; i++) {
    bool can_fail = tirc_primitives[i].n_params > 0;
    if (stats->legal_of[i] && (stats->refused_of[i] || !can_fail)) continue;
    printf("%s was never %s\n", tirc_primitives[i].name,
           stats->legal_of[i] ? "refused" : "drawn legally");
    n++;
  }
  return n;
}

/* After these the numbers are the user's own affair. */
static bool changes_numbers(const char *call) {
  static const char *const unsafe[] = {"sch.unsafe_", "sch.annotate_buffer_access("};
  for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
    if (strncmp(call, unsafe[i], strlen(unsafe[i])) == 0) return true;
  return false;
}

/* What was told of the program's blocks. */
typedef struct Told {
  int n;
  Warning at[MAX_PARAMS];
} Told;
static void tell(void *self, Warning w) {
  Told *t = self;
  if (t->n < MAX_PARAMS) t->at[t->n++] = w;
}

typedef struct Writers {
  Buffer buffer;
  int n;
} Writers;
static bool count_stores(Visitor *v, Stmt s) {
  Writers *w = v->self;
  w->n += s->kind == STMT_STORE && s->u.store.buffer == w->buffer;
  return true;
}

/* Whether nothing else in the function stores to what this block does. */
static bool stores_alone(const Func *f, const Block *b) {
  Writers w = {b->n_writes ? b->writes[0].buffer : NULL, 0};
  tirc_visit_stmt(&(Visitor){.stmt = count_stores, .self = &w}, f->body);
  return w.n == 1;
}

/* Whether two functions compute the same from several other values, too: what is stored may be
 * equal by chance. */
static bool agree(Tirc *c, const Module *m, const Func *f, const Func *g) {
  bool same = true;
  for (uint64_t seed = 1; seed <= 8 && same; seed++) {
    Values of_f = {.seed = seed * 1000}, of_g = {.seed = seed * 1000};
    values_for(c, f, m, f, &of_f);
    values_for(c, f, m, g, &of_g);
    same = !interpret(c, f, &of_f, NULL) && !interpret(c, g, &of_g, NULL) &&
           !values_compare(c, f, &of_f, &of_g);
    values_free(&of_f);
    values_free(&of_g);
  }
  return same;
}

/* NULL when blocks of which nothing was said compute the same in the other order, and one that is
 * said to read what another instance stored does not. */
static const char *check_told(Tirc *c, const Module *m, const Block *b, const Told *told,
                              const Values *expected) {
  const char *block = b->name;
  const Func *f = tirc_module_main(m), *turned = fuzz_turned(c, f, block);
  if (!turned) return NULL;
  bool early;
  const char *why = values_check(c, f, m, turned, expected, &early), *said = NULL;
  const char *start = tirc_format(c, "block %s declares", block);
  for (int i = 0; i < told->n; i++)
    if (strncmp(told->at[i].message, start, strlen(start)) == 0) said = told->at[i].message;
  if (said && !why && stores_alone(f, b) && strstr(said, " is read for ") &&
      !strstr(said, "T.axis.reduce") && agree(c, m, f, turned))
    return tirc_format(c, "it computes the same in the other order: %s", said);
  return why && !said ? tirc_format(c, "no word of block %s in the other order: %s", block, why)
                      : NULL;
}

typedef struct Blocks {
  Tirc *c;
  VEC(Stmt) at;
} Blocks;
static bool add_block(Visitor *v, Stmt s) {
  Blocks *b = v->self;
  if (s->kind == STMT_BLOCK) vec_push(b->c, b->at, s);
  return true;
}

static bool see_loose_store(Visitor *v, Stmt s) {
  *(bool *)v->self |= s->kind == STMT_STORE;
  return s->kind != STMT_BLOCK;
}

/* Those have no instances of their own: they turn with the block that they share loops with, and
 * whether they add to sums is not known. */
static bool has_loose_stores(const Func *f) {
  bool found = false;
  const Stmt body = f->body->kind == STMT_BLOCK ? f->body->u.block.body : f->body;
  tirc_visit_stmt(&(Visitor){.stmt = see_loose_store, .self = &found}, body);
  return found;
}

/* NULL when no iteration of a parallel loop uses what another one stores to a parameter. */
static const char *race(Tirc *c, const Func *program, const Module *m, int set) {
  const Func *f = tirc_module_main(m);
  if (has_loose_stores(f)) return NULL;
  Buffer raced = NULL;
  bool deeper = true;
  for (int depth = 0; deeper && !raced; depth++) {
    InterpObserver observer;
    Values got = {.set = set};
    values_for(c, program, m, f, &got);
    Threads *threads = fuzz_watch_threads(f, depth, &observer);
    (void)interpret(c, f, &got, &observer);
    raced = fuzz_end_threads(threads, &deeper);
    values_free(&got);
  }
  return raced ? tirc_format(c, "parallel iterations race for %s", raced->name) : NULL;
}

static const char *check_warnings(Tirc *c, const Module *m, const Values *expected) {
  Told told = {0};
  Blocks blocks = {.c = c};
  const char *why = NULL;
  if (has_loose_stores(tirc_module_main(m))) return NULL;
  tirc_spatial_dependences(&(Telling){tirc_sched_new(c, m), tell, &told});
  tirc_visit_stmt(&(Visitor){.stmt = add_block, .self = &blocks}, tirc_module_main(m)->body);
  for (int i = 0; i < blocks.at.n && !why; i++)
    why = check_told(c, m, &blocks.at.at[i]->u.block, &told, expected);
  return why;
}

/* NULL when the module computes what the program does, in both directions, and does not race. */
static const char *check_numbers(Tirc *c, const Func *program, const Module *m,
                                 const Values *expected, bool lower) {
  const Func *f = tirc_module_main(m);
  bool early = false;
  const char *why = values_check(c, program, m, f, expected, &early);
  if (!why && lower && !early) why = check_lowered(c, program, m, expected);
  const Func *turned = why ? NULL : fuzz_turned(c, f, NULL);
  if (turned) why = values_check(c, program, m, turned, expected, &early);
  if (turned && why) why = tirc_format(c, "with its parallel loops the other way round: %s", why);
  if (turned && !why) why = race(c, program, m, expected->set);
  return why;
}

/* The same with each of the program's sets of sizes. */
static const char *check_sets(Tirc *c, const Pair *k, const Func *program, const Module *m,
                              const Values *expected, bool lower) {
  for (int i = 0; i < k->n_sets; i++) {
    const char *why = check_numbers(c, program, m, &expected[i], lower);
    if (why) return tirc_format(c, "%s%s", values_sizes_text(c, program, k->sets[i]), why);
  }
  return NULL;
}

static unsigned long hash_of(const char *text) {
  unsigned long h = 1469598103934665603u;
  for (; text && *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
  return h;
}

static void print_warning(void *self, Warning w) {
  (void)self;
  printf("  warns [%s] %s\n", tirc_codes[w.code].text, w.message);
}

/* For the comparison of two builds: a program is told by its hash. */
static const char *print_outcome(Tirc *c, Sched *s, const char *line) {
  s->warn = print_warning;
  const bool legal = run_line(c, s, line);
  const Diag *d = &c->diag;
  printf("%s -> ", line);
  if (legal)
    printf("%lx\n", hash_of(tirc_print_module(c, s->mod, NULL)));
  else
    printf("[%s] %s (%s; %s) %lx\n", tirc_codes[d->code].text, d->message,
           d->condition ? d->condition : "", d->hint ? d->hint : "",
           hash_of(tirc_print_marked(c, d->ir)));
  return NULL;
}

/* *other: the module computes something else by now, knowingly. */
static const char *step(Tirc *c, const Pair *k, const Func *program, Sched *s, const char *line,
                        const Values *expected, bool *other, Stats *stats) {
  if (stats->outcomes) return print_outcome(c, s, line);
  const char *before = tirc_print_module(c, s->mod, NULL);
  if (!run_line(c, s, line)) {
    stats->refused++;
    stats->refused_of[primitive_of(line)]++;
    if (c->diag.code == CODE_INTERNAL) return tirc_format(c, "%s: %s", line, c->diag.message);
    if (c->diag.primitive && !tirc_may_raise(c->diag.primitive, c->diag.code))
      return tirc_format(c, "%s raises %s, and its documentation does not say so", line,
                         tirc_codes[c->diag.code].text);
    if (strcmp(before, tirc_print_module(c, s->mod, NULL)) != 0)
      return tirc_format(c, "%s failed and changed the module", line);
    const char *fault = tirc_sched_fault(s, SCHED_VERIFY_ALL);
    return fault ? tirc_format(c, "after %s, which failed: %s", line, fault) : NULL;
  }
  stats->legal++;
  stats->legal_of[primitive_of(line)]++;
  const char *why = tirc_sched_fault(s, SCHED_VERIFY_ALL);
  if (!why) why = check_text(c, s->mod);
  if (why) return tirc_format(c, "after %s: %s", line, why);
  *other |= changes_numbers(line);
  why = *other ? NULL : check_sets(c, k, program, s->mod, expected, stats->lower);
  return why ? tirc_format(c, "after %s: %s", line, why) : NULL;
}

static const char *draw_call(Tirc *c, Rng *r, Sched *s, const char *last, const Primitive *which) {
  const char *call = which ? fuzz_call(c, r, s, last, which) : NULL;
  return call ? call : fuzz_call(c, r, s, last, NULL);
}

/* Runs a case in a context of its own. With `r`, the calls are made up on the way (at most *n).
 * `why` gets the reason (to be freed) when a law is broken. */
static bool holds(Pair *k, Rng *r, int n, char **why, Stats *stats) {
  Tirc *c = tirc_context_new();
  /* Cases compute with what has no exact sums, or choose among equal candidates. */
  Values expected[MAX_SETS];
  for (int i = 0; i < k->n_sets; i++)
    expected[i] = (Values){.set = k->sets[i], .tolerance = k->start ? 1e-4 : 0};
  const char *volatile broken = NULL;
  Trap t;
  if (TIRC_TRY(c, t)) {
    Source source = {"fuzz.tir", k->program, strlen(k->program)};
    const Module *m = tirc_parse_module(c, &source, 0, NULL);
    tirc_verify(c, m);
    const Func *program = tirc_module_main(m);
    for (int i = 0; i < k->n_sets && !broken; i++) {
      values_make(c, program, &expected[i]);
      broken = interpret(c, program, &expected[i], NULL);
    }
    /* Lets, views and loaded conditions of wild ones hide what instances do from the warnings. */
    if (!broken && r && !k->start && !k->wild && !stats->outcomes)
      broken = check_warnings(c, m, expected);
    Sched *s = tirc_sched_new(c, m);
    const char *last = NULL;
    const long legal = stats->legal;
    bool other = false;
    if (k->start) {
      (void)run_line(c, s, k->start);
      other = strstr(k->start, "unsafe_") || strstr(k->start, "annotate_buffer_access");
      if (!broken && !other && !stats->outcomes)
        broken = check_sets(c, k, program, s->mod, expected, stats->lower);
    }
    for (int i = 0; i < n && !broken; i++) {
      if (r)
        k->calls[k->n_calls++] =
            strdup(draw_call(c, r, s, last, stats->legal == legal ? k->first : NULL));
      last = k->calls[i];
      broken = step(c, k, program, s, last, expected, &other, stats);
    }
    TIRC_END(c, t);
  } else {
    broken = tirc_format(c, "[%s] line %d: %s", tirc_codes[c->diag.code].text, c->diag.loc.line,
                         c->diag.message);
  }
  for (int i = 0; i < k->n_sets; i++) values_free(&expected[i]);
  if (broken && why) *why = strdup(broken);
  tirc_context_release(c);
  return !broken;
}

/* Leaves out calls one by one while a law stays broken. */
static void shrink(Pair *k, char **why, bool lower) {
  Stats ignored = {.lower = lower};
  for (int i = k->n_calls - 1; i >= 0; i--) {
    Pair less = *k;
    less.n_calls = 0;
    for (int j = 0; j < k->n_calls; j++)
      if (j != i) less.calls[less.n_calls++] = k->calls[j];
    char *reason = NULL;
    if (!holds(&less, NULL, less.n_calls, &reason, &ignored)) {
      *k = less;
      free(*why);
      *why = reason;
    }
  }
}

static void report(long number, const Pair *k, const char *why) {
  printf("counterexample %ld: %s\n--- program\n%s--- schedule\n%s", number, why, k->program,
         k->start ? k->start : "");
  for (int i = 0; i < k->n_calls; i++) printf("%s\n", k->calls[i]);
  printf("\n");
}

/* Whether the program can be run, and its own parallel loops do not race. */
static bool runs(Tirc *c, const Module *m, int set) {
  const Func *f = tirc_module_main(m), *turned = fuzz_turned(c, f, NULL);
  const InterpOptions options = {.max_steps = MAX_STEPS / 100};
  Values in_order = {.set = set}, other_way = {.set = set};
  values_make(c, f, &in_order);
  values_make(c, f, &other_way);
  bool ok = !values_run(c, f, &in_order, &options);
  if (ok && turned)
    ok = !values_run(c, turned, &other_way, &options) &&
         !values_compare(c, f, &in_order, &other_way) && !race(c, f, m, set);
  values_free(&in_order);
  values_free(&other_way);
  return ok;
}

/* Sets of sizes for its symbols with which it runs. False: there are none. */
static bool draw_sets(Tirc *c, Rng *r, const Module *m, Pair *k) {
  const Func *f = tirc_module_main(m);
  const bool symbolic = !values_can_be_made(c, f, 0);
  const int most = symbolic ? MAX_SETS : 1, tries = symbolic ? MAX_TRIES : 1;
  k->n_sets = 0;
  for (int i = 0; i < tries && k->n_sets < most; i++) {
    const int set = symbolic ? 1 + rng_below(r, SETS_OF_SIZES) : 0;
    if (values_can_be_made(c, f, set) && runs(c, m, set)) k->sets[k->n_sets++] = set;
  }
  return k->n_sets > 0;
}

/* False: the case cannot be gone on from. */
static bool start_from_case(Tirc *c, Rng *r, const char *path, Pair *k) {
  const Module *m = fuzz_case(c, path, &k->program, &k->start);
  return m && draw_sets(c, r, m, k);
}

/* Some of the programs are wild ones, of which some have to be drawn again. */
static void start_from_any(Tirc *c, Rng *r, int wild, Pair *k, Stats *stats) {
  /* Statements outside of blocks keep most primitives from them. */
  const int loose = k->first && strcmp(k->first->name, "make_blocks") == 0 ? 90 : 8;
  k->wild = rng_chance(r, wild);
  for (int tries = 0; k->wild && tries < MAX_TRIES; tries++) {
    k->program = fuzz_wild_program(c, r);
    stats->wild++;
    const Module *m = fuzz_parse(c, "fuzz.tir", k->program);
    if (m && rng_chance(r, loose)) {
      k->program = fuzz_loosen(c, r, m);
      m = fuzz_parse(c, "fuzz.tir", k->program);
    }
    if (m && draw_sets(c, r, m, k)) return;
    stats->unfit++;
  }
  k->wild = false;
  k->n_sets = 1;
  k->sets[0] = 0;
  k->program = fuzz_program(c, r);
}

static bool one(long number, const Settings *set, Stats *stats) {
  Rng r = {(uint64_t)set->seed * 1000003u + (uint64_t)number};
  Tirc *c = tirc_context_new();
  Pair k = {.n_sets = 1, .first = set->first};
  char *why = NULL;
  if (!set->n_cases) start_from_any(c, &r, set->wild, &k, stats);
  if (set->n_cases && !start_from_case(c, &r, set->cases[rng_below(&r, set->n_cases)], &k)) {
    stats->not_started++;
    tirc_context_release(c);
    return true;
  }
  if (stats->outcomes) printf("# %ld %lx\n", number, hash_of(k.program));
  bool ok = holds(&k, &r, 1 + rng_below(&r, set->calls), &why, stats);
  char *all[MAX_CALLS];
  int n = k.n_calls;
  for (int i = 0; i < n; i++) all[i] = (char *)(uintptr_t)k.calls[i];
  if (!ok) shrink(&k, &why, stats->lower);
  if (!ok || set->verbose) report(number, &k, ok ? "holds" : why);
  for (int i = 0; i < n; i++) free(all[i]);
  free(why);
  tirc_context_release(c);
  return ok;
}

static void print_usage(FILE *to) {
  fprintf(to,
          "usage: fuzz [OPTION]... [CASE]...\n\n"
          "Random schedules of random programs: each call must keep what the program computes, or "
          "fail\nand change nothing. With cases, schedules go on with the program after one of "
          "them.\n\n"
          "  --schedules N      how many schedules (1000)\n"
          "  --seed S           of the random numbers (1)\n"
          "  --calls N          most calls in a schedule, 1 to %d (%d)\n"
          "  --wild PERCENT     how many of the programs are odd ones (33)\n"
          "  --first PRIMITIVE  start each schedule with it\n"
          "  --lower            run what each program is lowered to, too\n"
          "  --stats            print how many calls of each primitive were legal and refused\n"
          "  --every-primitive  fail if a primitive was never legal, or never refused\n"
          "  --outcomes         print what each call gives, to compare two builds; check nothing\n"
          "  --verbose          print each program and schedule\n",
          MAX_CALLS, MAX_CALLS);
}

int main(int argc, char **argv) {
  long n = 1000, broken = 0;
  bool table = false, every = false;
  Settings set = {.seed = 1, .calls = MAX_CALLS, .wild = 33};
  Stats stats = {0};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--verbose") == 0)
      set.verbose = true;
    else if (strcmp(argv[i], "--stats") == 0)
      table = true;
    else if (strcmp(argv[i], "--every-primitive") == 0)
      every = true;
    else if (strcmp(argv[i], "--lower") == 0)
      stats.lower = true;
    else if (strcmp(argv[i], "--outcomes") == 0)
      stats.outcomes = true;
    else if (i + 1 < argc && strcmp(argv[i], "--schedules") == 0)
      n = strtol(argv[++i], NULL, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
      set.seed = strtol(argv[++i], NULL, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--calls") == 0)
      set.calls = (int)strtol(argv[++i], NULL, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--wild") == 0)
      set.wild = (int)strtol(argv[++i], NULL, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--first") == 0 && tirc_find_primitive(argv[i + 1]))
      set.first = tirc_find_primitive(argv[++i]);
    else if (argv[i][0] != '-') {
      set.n_cases = argc - i;
      set.cases = argv + i;
      break;
    } else {
      bool help = strcmp(argv[i], "--help") == 0;
      if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
        fprintf(stderr, "fuzz: --first: there is no primitive '%s'\n\n", argv[i + 1]);
      print_usage(help ? stdout : stderr);
      return help ? 0 : 2;
    }
  }
  if (set.calls < 1 || set.calls > MAX_CALLS) set.calls = MAX_CALLS;
  for (long i = 0; i < n; i++) broken += !one(i, &set, &stats);
  if (table) print_stats(&stats);
  if (stats.not_started)
    printf("%ld times a case was drawn whose program cannot be run here\n", stats.not_started);
  printf("%ld schedules, %ld legal calls, %ld refused, %ld counterexamples\n",
         n - stats.not_started, stats.legal, stats.refused, broken);
  int undrawn = every ? print_undrawn(&stats) : 0;
  return broken || undrawn ? 1 : 0;
}
