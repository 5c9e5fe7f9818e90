/* The example behind an error: a program and a script that raise it, what would be computed if the
 * call were allowed, and what to write instead; and the same behind a warning, which is an error to
 * the strict. All of it is run when it is shown, so what is printed is true. */
#include "teach.h"

#include <string.h>

typedef struct ErrorCase {
  const char *code;
  bool is_warning;
  int fails_at; /* which line of the schedule that is not empty, from 1 */
  const char *nothing_to_run;
  const char *program, *schedule, *why;
  const char *forbidden;     /* the program that the refused call would have made, or NULL */
  const char *fixed_program; /* NULL: program */
  const char *fixed;
} ErrorCase;

static const ErrorCase cases[] = {
#include "error_cases.inc"
};
enum { N_CASES = sizeof cases / sizeof *cases };

static tirc_status parse(const char *text, tirc_module **m, tirc_error **e) {
  return tirc_module_parse(text, strlen(text), "example", 0, NULL, m, e);
}

static tirc_status apply(const ErrorCase *k, const tirc_module *m, const char *script,
                         tirc_module **out, tirc_error **e) {
  const tirc_schedule_options o = {.strict = k->is_warning};
  return tirc_module_schedule_text(m, script, strlen(script), "example", &o, out, e);
}

static int unexpected(const ErrorCase *k, const char *what) {
  printf("  (tirc's own example of %s does not hold: %s)\n", k->code, what);
  return NO;
}

/* The script, with a mark at the line that fails. */
static void print_script(const char *script, int fails_at) {
  int n = 0;
  for (const char *end; *script; script = *end ? end + 1 : end) {
    end = script + strcspn(script, "\n");
    bool blank = script + strspn(script, " ") == end;
    bool fails = !blank && ++n == fails_at;
    printf("    %.*s%s\n", (int)(end - script), script, fails ? "    # <- refused" : "");
  }
}

static int print_refusal(const ErrorCase *k) {
  tirc_module *m = NULL, *after = NULL;
  tirc_error *e = NULL;
  tirc_status status = parse(k->program, &m, &e);
  if (status == TIRC_OK) status = apply(k, m, k->schedule, &after, &e);
  const char *code = e ? tirc_error_get(e, TIRC_ERROR_CODE) : NULL;
  bool refused = code && strcmp(code, k->code) == 0;
  if (refused) {
    putchar('\n');
    const char *condition = tirc_error_get(e, TIRC_ERROR_CONDITION);
    const int column = printf("    %s: ", k->is_warning ? "warning" : "error");
    put_wrapped(stdout, column, 4, tirc_error_message(e));
    if (condition) {
      printf("    condition: ");
      put_wrapped(stdout, 15, 4, condition);
    }
  }
  tirc_error_free(e);
  tirc_module_free(after);
  tirc_module_free(m);
  return refused ? DONE : unexpected(k, "it is not refused with this code");
}

typedef struct Outcome {
  tirc_module *m;
  int n;
  const tirc_param *params;
  tirc_argument *args;
  tirc_error *e; /* why there is no result */
  const char *when;
} Outcome;

static void free_outcome(Outcome *x) {
  free_arguments(x->n, x->args);
  tirc_error_free(x->e);
  tirc_module_free(x->m);
}

static bool make_arguments(Outcome *x) {
  x->args = tirc_alloc_array(memory, (size_t)x->n + 1, sizeof *x->args);
  for (int i = 0; x->args && i < x->n; i++) {
    const tirc_param *p = &x->params[i];
    x->args[i].i = 4;
    x->args[i].f = 0.5;
    if (!p->is_array) continue;
    int64_t shape[32];
    for (int d = 0; d < p->ndim; d++) shape[d] = p->shape[d] < 0 ? 4 : p->shape[d];
    if (tirc_array_new(p->dtype, p->ndim, shape, &x->args[i].array, &x->e)) return false;
    tirc_array_fill_random(x->args[i].array, (uint64_t)i);
  }
  return x->args != NULL;
}

/* Runs a module on arrays that are the same for each; takes the module over. */
static void run(Outcome *x) {
  x->when = "it stops";
  (void)(tirc_module_params(x->m, NULL, &x->n, &x->params, &x->e) || !make_arguments(x) ||
         tirc_module_interpret(x->m, NULL, x->n, x->args, 0, &x->e));
}

static Outcome run_text(const char *program) {
  Outcome x = {.when = "it is not a program"};
  if (parse(program, &x.m, &x.e) == TIRC_OK) run(&x);
  return x;
}

static void put_place(FILE *f, const tirc_array *a, int64_t at) {
  int64_t index[32] = {0};
  for (int d = tirc_array_ndim(a) - 1; d >= 0; d--) {
    int64_t extent = tirc_array_shape(a)[d];
    index[d] = at % extent;
    at /= extent;
  }
  for (int d = 0; d < tirc_array_ndim(a); d++)
    fprintf(f, "%s%lld", d ? ", " : "[", (long long)index[d]);
  fputc(']', f);
}

/* "3 of 8 elements of C would be wrong: C[0, 1] would be 1.5 instead of 4"; false when none is. */
static bool print_differences(const Outcome *right, const Outcome *wrong) {
  bool any = false;
  for (int i = 0; i < right->n && i < wrong->n; i++) {
    const tirc_array *a = right->args[i].array, *b = wrong->args[i].array;
    if (!a || !b || tirc_array_count(a) != tirc_array_count(b)) continue;
    int64_t n = 0, first = -1;
    for (int64_t at = 0; at < tirc_array_count(a); at++) {
      double x = tirc_array_get(a, at), y = tirc_array_get(b, at);
      double allowed = 1e-4 * ((x < 0 ? -x : x) + 1);
      if (x - y <= allowed && y - x <= allowed) continue;
      if (!n++) first = at;
    }
    if (!n) continue;
    any = true;
    char *sentence = NULL;
    size_t size = 0;
    FILE *f = begin_text(&sentence, &size);
    fprintf(f, "Run on random arrays: %lld of %lld elements of %s are wrong; %s", (long long)n,
            (long long)tirc_array_count(a), right->params[i].name, right->params[i].name);
    put_place(f, a, first);
    fprintf(f, " is %g and should be %g.\n", tirc_array_get(b, first), tirc_array_get(a, first));
    (void)end_text(f, &sentence);
    put_text(stdout, 4, false, sentence);
  }
  return any;
}

static int print_forbidden(const ErrorCase *k) {
  if (!k->forbidden) {
    printf("\n    Nothing can be run in its place: ");
    put_wrapped(stdout, 37, 4, k->nothing_to_run);
    return DONE;
  }
  put_text(stdout, 0, false,
           k->is_warning ? "\nWhat it says may be done:"
                         : "\nIf it were allowed, the program would be:");
  print_nest(k->forbidden);
  putchar('\n');
  Outcome right = run_text(k->program), wrong = run_text(k->forbidden);
  int status = DONE;
  if (right.e)
    status = unexpected(k, tirc_error_message(right.e));
  else if (wrong.e) {
    const int column = printf("    Run on random arrays, %s: ", wrong.when);
    put_wrapped(stdout, column, 4, tirc_error_message(wrong.e));
  } else if (!print_differences(&right, &wrong))
    status = unexpected(k, "what it warns of does not happen");
  free_outcome(&right);
  free_outcome(&wrong);
  return status;
}

static int print_fixed(const ErrorCase *k) {
  const char *program = k->fixed_program ? k->fixed_program : k->program;
  puts("\nInstead:");
  if (k->fixed_program) {
    print_nest(k->fixed_program);
    putchar('\n');
  }
  print_script(k->fixed, 0);
  /* Where nothing can be run of it, what is warned of has no result to compare with. */
  Outcome plain = run_text(k->is_warning && k->forbidden ? k->program : program), fixed = {0};
  tirc_module *m = NULL;
  int status = DONE;
  if (!plain.e && parse(program, &m, &fixed.e) == TIRC_OK &&
      apply(k, m, k->fixed, &fixed.m, &fixed.e) == TIRC_OK)
    run(&fixed);
  tirc_error *e = plain.e ? plain.e : fixed.e;
  if (e) status = unexpected(k, tirc_error_message(e));
  if (!e && print_differences(&plain, &fixed)) status = unexpected(k, "the fix is wrong");
  free_outcome(&plain);
  free_outcome(&fixed);
  tirc_module_free(m);
  return status;
}

int explain_case(const char *code) {
  for (int i = 0; i < N_CASES; i++) {
    const ErrorCase *k = &cases[i];
    if (strcmp(k->code, code) != 0) continue;
    puts("\nExample:");
    print_nest(k->program);
    if (*k->schedule) putchar('\n');
    print_script(k->schedule, k->fails_at);
    int status = print_refusal(k);
    puts("\nWhy:");
    put_text(stdout, 4, false, k->why);
    if (print_forbidden(k) != DONE) status = NO;
    if (print_fixed(k) != DONE) status = NO;
    return status;
  }
  return DONE;
}
