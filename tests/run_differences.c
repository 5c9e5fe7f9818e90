/* run_differences [--write] RANDOM_FOLDER LIST.md
 *
 * Where the random sequences end otherwise here than in the record of TVM 0.20. recorded.txt in the
 * folder has a hash of each recorded outcome (verdict, failing call, result), differences.jsonl the
 * outcomes themselves that are not ours or are marked wrong. For each of these the sequence runs,
 * and the interpreter runs the program before it and the one that the reference made of it: one
 * line of the list. It is a failure when a line is not in the list as it is made now, when a
 * sequence whose expectation is not the record has no line, and when a difference is none any more.
 * --write makes the list. */
#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/script/script.h"
#include "runtime/interp/interp.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PARAMS = 16, MAX_STEPS = 40000000, SYMBOL = 24 };

static const char HEAD[] =
    "# Differences from TVM 0.20, case by case\n"
    "\n"
    "The random sequences (`random/random.jsonl`) whose outcome here is not the recorded one, or "
    "whose recorded "
    "program computes other numbers. [DIFFERENCES.md](DIFFERENCES.md) says why, by the code.\n"
    "\"The reference's program\" is what it makes of the whole sequence, run in the interpreter on "
    "the arrays of the "
    "program before it: the largest difference of an output, or what it does wrong. The same "
    "numbers there mean that\n"
    "the refused call did no harm with what the other calls made of it, or by chance. Where the "
    "reference refuses a "
    "later call, it has recorded no program. `run_differences --write` makes this list, and a test "
    "compares it.\n"
    "\n"
    "| case | program | here | in the record | the reference's program |\n"
    "|---|---|---|---|---|\n";

static const char *text_of(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : NULL;
}

static int int_of(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_int(value) : 0;
}

/* Of what was recorded: FNV-1a. */
static uint64_t hash_of(Tirc *c, struct json_object *o) {
  const char *result = text_of(o, "result");
  const char *s = tirc_format(c, "%s\n%d\n%s", text_of(o, "verdict"), int_of(o, "fails-at-call"),
                              result ? result : "");
  uint64_t h = 0xcbf29ce484222325u;
  for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001b3u;
  return h;
}

/* The lines of a file as objects by their id. */
static struct json_object *read_lines(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  struct json_object *all = f ? json_object_new_object() : NULL;
  char *line = NULL;
  size_t cap = 0;
  while (f && getline(&line, &cap, f) > 0) {
    struct json_object *o = json_tokener_parse(line);
    if (text_of(o, "id")) json_object_object_add(all, text_of(o, "id"), o);
  }
  free(line);
  if (f) fclose(f);
  return all;
}

static const Module *parse(Tirc *c, const char *name, const char *text) {
  Source source = {name, text, strlen(text)};
  return tirc_parse_module(c, &source, 0, NULL);
}

/* --- what is computed ------------------------------------------------------------------------- */

static int64_t extent(Expr e) {
  int64_t n;
  return tirc_const_int(e, &n) ? n : SYMBOL;
}

static int64_t elements(Buffer b) {
  int64_t n = 1;
  for (int d = 0; d < b->ndim; d++) n *= extent(b->shape[d]);
  return n;
}

/* The same values each time; a scalar is an extent. */
static void make_arguments(Tirc *c, const Func *f, Argument *out) {
  for (int i = 0; i < f->n_params && i < MAX_PARAMS; i++) {
    out[i] = (Argument){.i = SYMBOL};
    if (!f->buffers[i]) continue;
    int64_t shape[TENSOR_MAX_NDIM] = {0};
    for (int d = 0; d < f->buffers[i]->ndim; d++) shape[d] = extent(f->buffers[i]->shape[d]);
    out[i].tensor = tirc_tensor_new(c, f->buffers[i]->dtype, f->buffers[i]->ndim, shape);
    tirc_tensor_random(out[i].tensor, (uint64_t)i);
  }
}

static void free_arguments(const Func *f, Argument *args) {
  for (int i = 0; i < f->n_params && i < MAX_PARAMS; i++) tirc_tensor_free(args[i].tensor);
}

/* NULL, or why it cannot be run. */
static const char *interpret(Tirc *c, const Func *f, const Argument *args) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_interpret(c, f, f->n_params, args, MAX_STEPS);
    TIRC_END(c, trap);
    return NULL;
  }
  return tirc_format(c, "%s: %s", tirc_codes[c->diag.code].text, c->diag.message);
}

static const char *compare(Tirc *c, const Func *f, const Argument *x, const Argument *y) {
  const char *name = NULL;
  double worst = 0;
  for (int i = 0; i < f->n_params; i++)
    for (int64_t k = 0; x[i].tensor && k < x[i].tensor->count; k++) {
      double a = tirc_tensor_get(x[i].tensor, k), b = tirc_tensor_get(y[i].tensor, k);
      double off = isnan(a) != isnan(b) ? (double)INFINITY : isnan(a) ? 0 : fabs(a - b);
      if (off <= 1e-4 * (1 + fabs(a)) || off <= worst) continue;
      worst = off;
      name = f->buffers[i]->name;
    }
  return name ? tirc_format(c, "%s is off by up to %.2g", name, worst) : "the same numbers";
}

/* The interface has changed: which array, and whether there is room for all of it. */
static const char *other_arrays(Tirc *c, const Func *was, const Func *now) {
  for (int i = 0; i < was->n_params && i < now->n_params; i++) {
    Buffer a = was->buffers[i], b = now->buffers[i];
    bool same = !a || a->ndim == b->ndim;
    for (int d = 0; a && same && d < a->ndim; d++)
      same = extent(a->shape[d]) == extent(b->shape[d]);
    if (same) continue;
    long long n = elements(a), m = elements(b);
    return m < n ? tirc_format(c, "%s has %lld places for its %lld elements", a->name, m, n)
                 : tirc_format(c, "takes %s in another layout", a->name);
  }
  return NULL;
}

/* Arrays into the layout that transform_layout gave a parameter, and back. */
static bool relay(Tirc *c, const Module *made, const Func *was, Argument *args, bool back) {
  const Func *now = tirc_module_main(made);
  bool any = false;
  for (int i = 0; i < was->n_params; i++) {
    const Module *copy = tirc_relayout(c, made, now, i, back);
    if (!copy) continue;
    Argument to[MAX_PARAMS] = {0}, pair[MAX_PARAMS] = {args[i]};
    make_arguments(c, back ? was : now, to);
    pair[1] = to[i];
    for (int k = 2; k < MAX_PARAMS; k++) pair[k].i = SYMBOL;
    to[i].tensor = args[i].tensor;
    args[i] = pair[1];
    any = !interpret(c, copy->funcs[0], pair);
    free_arguments(now, to);
  }
  return any;
}

static const char *run_both(Tirc *c, const Module *program, const Module *made) {
  const Func *was = tirc_module_main(program), *now = tirc_module_main(made);
  Argument x[MAX_PARAMS] = {0}, y[MAX_PARAMS] = {0};
  const char *out = now->relayouts ? NULL : other_arrays(c, was, now);
  if (out) return out;
  make_arguments(c, was, x);
  make_arguments(c, was, y);
  bool relaid = relay(c, made, was, y, false);
  out = interpret(c, was, x);
  if (!out) out = interpret(c, now, y);
  if (relaid) relay(c, made, was, y, true);
  if (!out) out = compare(c, was, x, y);
  if (relaid) out = tirc_format(c, "%s, through a parameter's new layout", out);
  free_arguments(was, x);
  free_arguments(was, y);
  return out;
}

/* --- one line --------------------------------------------------------------------------------- */

/* What the sequence does here: NULL and the program, or the failing call and the code. */
static const char *run_here(Tirc *c, const Module *m, struct json_object *calls,
                            const Module **made) {
  Sched *s = tirc_sched_new(c, m);
  for (size_t i = 0; i < json_object_array_length(calls); i++) {
    const char *call = json_object_get_string(json_object_array_get_idx(calls, i));
    Source source = {"schedule", call, strlen(call)};
    Trap trap;
    if (!TIRC_TRY(c, trap))
      return tirc_format(c, "call %zu, `%s`: `%s`", i + 1, call, tirc_codes[c->diag.code].text);
    tirc_run_script(s, &source, NULL, NULL, NULL, NULL);
    TIRC_END(c, trap);
  }
  *made = s->mod;
  return NULL;
}

static const char *recorded_outcome(Tirc *c, struct json_object *record) {
  const char *verdict = text_of(record, "verdict"), *numbers = text_of(record, "numbers");
  if (strcmp(verdict, "legal"))
    return tirc_format(c, "call %d: %s", int_of(record, "fails-at-call"), verdict);
  return numbers && *numbers ? tirc_format(c, "legal, %s", numbers) : "legal";
}

/* *why: the difference is none any more. */
static const char *line_of(Tirc *c, const char *id, struct json_object *ours,
                           struct json_object *record, const char *program, const char **why) {
  struct json_object *calls;
  const Module *m = parse(c, id, program), *made = NULL, *theirs = NULL;
  if (!json_object_object_get_ex(ours, "calls", &calls)) return *why = "it has no calls", NULL;
  const char *refused = run_here(c, m, calls, &made), *result = text_of(record, "result");
  if (result) theirs = parse(c, "recorded", result);
  const char *numbers = text_of(record, "numbers");
  bool same = made && theirs && !tirc_module_difference(c, theirs, made);
  if (same && strcmp(numbers, "WRONG")) return *why = "the outcome is the recorded one", NULL;
  if (same) theirs = made; /* whose layouts are known */
  const char *here = refused ? refused : tirc_format(c, "legal; %s", run_both(c, m, made));
  return tirc_format(c, "| %s | %s | %s | %s | %s |\n", id, text_of(ours, "program"), here,
                     recorded_outcome(c, record), theirs ? run_both(c, m, theirs) : "not recorded");
}

/* --- all -------------------------------------------------------------------------------------- */

static int failures;
static void fail(const char *id, const char *why) {
  printf("FAIL %s: %s\n", id, why);
  failures++;
}

/* Every expectation is the record, or has a line. */
static void check_hashes(const char *folder, struct json_object *ours, struct json_object *differ) {
  char path[4096], id[64];
  uint64_t hash;
  int n = 0;
  snprintf(path, sizeof path, "%s/recorded.txt", folder);
  FILE *f = fopen(path, "rb");
  while (f && fscanf(f, "%63s %" SCNx64, id, &hash) == 2) {
    Tirc *c = tirc_context_new();
    struct json_object *o, *listed;
    n++;
    bool there = json_object_object_get_ex(ours, id, &o);
    bool lists = json_object_object_get_ex(differ, id, &listed);
    const char *numbers = there ? text_of(o, "numbers") : NULL;
    bool wrong = numbers && !strncmp(numbers, "WRONG", 5);
    if (!there) fail(id, "it is recorded and not among the sequences");
    if (lists && hash_of(c, listed) != hash) fail(id, "differences.jsonl has not what is recorded");
    if (there && !lists && (wrong || hash_of(c, o) != hash))
      fail(id, "its expectation is not the record, and it is not in differences.jsonl");
    tirc_context_release(c);
  }
  if (f) fclose(f);
  if (n != json_object_object_length(ours)) fail(folder, "recorded.txt has not all sequences");
}

static void put_line(const char *id, struct json_object *ours, struct json_object *record,
                     struct json_object *programs, FILE *out) {
  Tirc *c = tirc_context_new();
  const char *why = NULL;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const char *program = text_of(programs, text_of(ours, "program"));
    const char *line = line_of(c, id, ours, record, program, &why);
    if (line) fputs(line, out);
    if (!line) fail(id, why);
    TIRC_END(c, trap);
  } else {
    fail(id, c->diag.message);
  }
  tirc_context_release(c);
}

static void make_list(struct json_object *ours, struct json_object *differ,
                      struct json_object *programs, FILE *out) {
  fputs(HEAD, out);
  json_object_object_foreach(differ, id, record) {
    struct json_object *o;
    if (json_object_object_get_ex(ours, id, &o))
      put_line(id, o, record, programs, out);
    else
      fail(id, "it is not among the sequences");
  }
}

/* The first line in which the list is not what was made. */
static void check_list(const char *path, char *made) {
  FILE *f = fopen(path, "rb");
  char *line = NULL;
  size_t cap = 0;
  for (char *at = made; *at;) {
    size_t n = strcspn(at, "\n") + 1;
    if (!f || getline(&line, &cap, f) <= 0 || strlen(line) != n || strncmp(line, at, n)) {
      printf("FAIL %s has not the line\n%.*s", path, (int)n, at);
      failures++;
      break;
    }
    at += n;
  }
  if (!failures && f && getline(&line, &cap, f) > 0) fail(path, "it has more lines than cases");
  free(line);
  if (f) fclose(f);
}

int main(int argc, char **argv) {
  bool write = argc > 1 && !strcmp(argv[1], "--write");
  if (argc != 3 + write) {
    fprintf(stderr, "usage: run_differences [--write] RANDOM_FOLDER LIST.md\n");
    return 2;
  }
  const char *folder = argv[1 + write], *list = argv[2 + write];
  char path[4096], *made = NULL;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/programs.json", folder);
  struct json_object *programs = json_object_from_file(path);
  struct json_object *ours = read_lines(folder, "random.jsonl");
  struct json_object *differ = read_lines(folder, "differences.jsonl");
  FILE *out = write ? fopen(list, "wb") : open_memstream(&made, &n);
  if (!programs || !ours || !differ || !out) {
    fprintf(stderr, "run_differences: a file cannot be opened\n");
    return 2;
  }
  check_hashes(folder, ours, differ);
  make_list(ours, differ, programs, out);
  fclose(out);
  if (!write) check_list(list, made);
  printf("%d differences listed, %d failures\n", json_object_object_length(differ), failures);
  free(made);
  json_object_put(programs);
  json_object_put(ours);
  json_object_put(differ);
  return failures ? 1 : 0;
}
