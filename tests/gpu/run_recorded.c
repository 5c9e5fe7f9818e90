/* run_recorded DEVICE|emulate [--filter TEXT] [--size N] [--every N] [--words FILE] [--by
 *     COMMAND] SCHEDULES.jsonl INTRINSICS.json [PROGRAMS.json]
 *
 * Do recorded schedules for GPUs compute on a device, or on the emulator, what their programs do?
 * One JSON object a line: its `name`, the `program` by its name in PROGRAMS.json, or its text, and
 * the `schedule`. Scripts of intrinsics that a schedule names run before it; a schedule that
 * defines apply_trace has it called. Extents that are symbols get N (61). What a target or the
 * device does not hold is said and counted apart. It takes minutes, most of them for what is right:
 * one run of the interpreter a program.
 *
 * With cuda-source for DEVICE nothing runs: clang compiles what is emitted, with the words of FILE.
 * With ptx, LLVM does. --by COMMAND has the path of either for its last argument: "ptxas
 * -arch=sm_80 -o /dev/null" and "nvcc -arch=sm_80 -x cu -ptx -o /dev/null" are such commands.
 * --every N takes one in N. */
#include "runtime/tirc.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PARAMS = 32 };

typedef struct Options {
  const char *device, *filter, *words;
  int64_t size, every;
  bool compiles;  /* programs do not run */
  bool is_source; /* CUDA C is what is compiled, not PTX */
  char by[512];   /* the command, or none */
  struct json_object *programs, *intrinsics;
} Options;

typedef struct Program { /* the last one, with what it computes */
  char *text;
  tirc_module *m;
  int n, n_symbols;
  const tirc_param *params;
  tirc_symbol symbols[MOST_PARAMS];
  tirc_argument args[MOST_PARAMS];
  tirc_reference *reference;
} Program;

typedef struct Counts {
  int right, wrong, refused, beyond; /* beyond: a limit of the target or of the device */
} Counts;

static const char *text_of(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : NULL;
}

static void forget(Program *p) {
  tirc_reference_free(p->reference);
  for (int i = 0; i < p->n; i++) tirc_array_free(p->args[i].array);
  tirc_module_free(p->m);
  free(p->text);
  *p = (Program){0};
}

static int draw(const Options *o, Program *p, tirc_error **e) {
  const tirc_symbol *symbols;
  if (tirc_module_params(p->m, NULL, &p->n, &p->params, e) ||
      tirc_module_symbols(p->m, NULL, &p->n_symbols, &symbols, e) || p->n > MOST_PARAMS ||
      p->n_symbols > MOST_PARAMS)
    return 1;
  for (int i = 0; i < p->n_symbols; i++)
    p->symbols[i] = (tirc_symbol){symbols[i].name, o->size, true};
  for (int i = 0; i < p->n; i++)
    if (!p->params[i].is_array) p->args[i].i = o->size, p->args[i].f = (double)o->size;
  for (int i = 0; i < p->n; i++) {
    if (!p->params[i].is_array) continue;
    if (tirc_module_array(p->m, NULL, p->n, p->args, p->n_symbols, p->symbols, i, NULL,
                          &p->args[i].array, e))
      return 1;
    tirc_array_fill_random(p->args[i].array, (uint64_t)i);
    if (strstr(p->params[i].dtype, "int")) /* an index, too, must be inside */
      (void)tirc_array_fill_range(p->args[i].array, (uint64_t)i, 0, 3, NULL);
  }
  return tirc_reference_new(p->m, NULL, p->n, p->args, NULL, &p->reference, e) != TIRC_OK;
}

static int take_program(const Options *o, Program *p, const char *text, tirc_error **e) {
  if (p->text && strcmp(p->text, text) == 0) return 0;
  forget(p);
  p->text = strdup(text);
  return tirc_module_parse(text, strlen(text), "program", 0, NULL, &p->m, e) ||
         (!o->compiles && draw(o, p, e));
}

/* The intrinsics that it names, itself, and the call of apply_trace. */
static char *script_of(const Options *o, const char *schedule) {
  char *script = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&script, &size);
  if (!f) return NULL;
  json_object_object_foreach(o->intrinsics, name, text) if (strstr(schedule, name))
      fprintf(f, "%s\n", json_object_get_string(text));
  fprintf(f, "%s\n%s", schedule, strstr(schedule, "def apply_trace") ? "apply_trace(sch)\n" : "");
  fclose(f);
  return script;
}

/* Lowered for a GPU with shuffles. */
static int emulate(const Program *p, const tirc_module *m, const tirc_argument *got,
                   tirc_error **e) {
  tirc_module *lowered = NULL;
  const int bad = tirc_module_lower_for(m, "sm_80", NULL, NULL, &lowered, e) ||
                  tirc_module_emulate(lowered, NULL, p->n, got, NULL, NULL, e);
  tirc_module_free(lowered);
  return bad;
}

static int run(const Options *o, const Program *p, const tirc_module *m, tirc_check *check,
               tirc_error **e) {
  tirc_argument got[MOST_PARAMS] = {0};
  tirc_kernel *k = NULL;
  int bad = 0;
  for (int i = 0; i < p->n && !bad; i++) {
    got[i] = p->args[i];
    got[i].array = NULL;
    bad = p->args[i].array && tirc_array_copy(p->args[i].array, &got[i].array, e);
  }
  if (strcmp(o->device, "emulate") == 0)
    bad = bad || emulate(p, m, got, e);
  else
    bad = bad || tirc_kernel_new_on(m, NULL, o->device, NULL, &k, e) ||
          tirc_kernel_run(k, NULL, p->n, got, e);
  bad = bad || tirc_reference_check(p->reference, p->n, got, check, e);
  tirc_kernel_free(k);
  for (int i = 0; i < p->n; i++) tirc_array_free(got[i].array);
  return bad;
}

/* Right is what the command takes; without one, what is PTX. */
static int compile(const Options *o, const tirc_module *m, tirc_check *check, tirc_error **e) {
  char *source = NULL, path[] = "/tmp/run_recorded.XXXXXX", command[600];
  size_t n = 0;
  if (tirc_module_emit(m, o->is_source ? TIRC_EMIT_CUDA : TIRC_EMIT_PTX, "sm_80", NULL, &source, &n,
                       e))
    return 1;
  if (!*o->by) {
    *check = (tirc_check){.ok = strstr(source, ".entry") != NULL, .param = "PTX"};
    tirc_string_free(source);
    return 0;
  }
  const int file = mkstemp(path);
  const bool written = file >= 0 && write(file, source, n) == (ssize_t)n;
  snprintf(command, sizeof command, "%s %s", o->by, path);
  *check = (tirc_check){.ok = written && system(command) == 0, .param = o->by};
  if (file >= 0) close(file), unlink(path);
  tirc_string_free(source);
  return 0;
}

static bool is_limit(const tirc_error *e) {
  return strcmp(tirc_error_get(e, TIRC_ERROR_CODE), "limit") == 0 ||
         strstr(tirc_error_message(e), "bytes of shared memory") != NULL ||
         strstr(tirc_error_message(e), "has no T.") != NULL;
}

/* What the emulator finds is a fault of what was made, and nothing that is refused. */
static bool is_found(const tirc_error *e) {
  static const char *const codes[] = {"race",          "barrier",  "shuffle",  "uninitialised",
                                      "out-of-bounds", "overflow", "division", "shared-memory",
                                      "launch",        "codegen",  "internal"};
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE);
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(code, codes[i]) == 0) return true;
  return false;
}

static void tell(Counts *k, const char *name, const tirc_check *c, tirc_error *e) {
  if (!e && c->ok) {
    k->right++;
  } else if (!e) {
    k->wrong++;
    printf("%s: WRONG: \"%s\" element %lld is %.9g, should be %.9g\n", name,
           c->param ? c->param : "?", (long long)c->at, c->got, c->expected);
  } else {
    *(is_found(e) ? &k->wrong : is_limit(e) ? &k->beyond : &k->refused) += 1;
    printf("%s: %s%s [%s]\n", name, is_found(e) ? "WRONG: " : "", tirc_error_message(e),
           tirc_error_get(e, TIRC_ERROR_CODE));
  }
  tirc_error_free(e);
  fflush(stdout);
}

static void run_record(const Options *o, Program *p, struct json_object *r, Counts *k) {
  const char *name = text_of(r, "name"), *schedule = text_of(r, "schedule");
  const char *program = text_of(r, "program");
  if (program && o->programs && text_of(o->programs, program))
    program = text_of(o->programs, program);
  if (!name || !schedule || !program || (o->filter && !strstr(name, o->filter))) return;
  tirc_module *m = NULL;
  tirc_check c = {.ok = false};
  tirc_error *e = NULL;
  char *script = script_of(o, schedule);
  (void)(take_program(o, p, program, &e) ||
         tirc_module_schedule_text(p->m, script, strlen(script), "schedule", NULL, &m, &e) ||
         (o->compiles ? compile(o, m, &c, &e) : run(o, p, m, &c, &e)));
  tell(k, name, &c, e);
  tirc_module_free(m);
  free(script);
}

int main(int argc, char **argv) {
  Options o = {.device = argc > 1 ? argv[1] : NULL, .size = 61, .every = 1};
  int i = 2;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (strcmp(argv[i], "--filter") == 0) o.filter = argv[i + 1];
    if (strcmp(argv[i], "--words") == 0) o.words = argv[i + 1];
    if (strcmp(argv[i], "--by") == 0) snprintf(o.by, sizeof o.by, "%s", argv[i + 1]);
    if (strcmp(argv[i], "--size") == 0) o.size = strtoll(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--every") == 0) o.every = strtoll(argv[i + 1], NULL, 10);
  }
  FILE *f = i + 1 < argc ? fopen(argv[i], "r") : NULL;
  if (!f || !(o.intrinsics = json_object_from_file(argv[i + 1])))
    return fprintf(
               stderr,
               "usage: run_recorded DEVICE [--filter TEXT] [--size N] [--every N] "
               "[--words FILE] [--by COMMAND] SCHEDULES.jsonl INTRINSICS.json [PROGRAMS.json]\n"),
           2;
  if (i + 2 < argc) o.programs = json_object_from_file(argv[i + 2]);
  o.is_source = o.device && strcmp(o.device, "cuda-source") == 0;
  o.compiles = o.is_source || (o.device && strcmp(o.device, "ptx") == 0);
  if (o.is_source && !*o.by)
    snprintf(
        o.by, sizeof o.by,
        "%s -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent -include "
        "%s --cuda-gpu-arch=sm_80 -O1 -Wall -Werror -S -o /dev/null",
        getenv("CLANG") ? getenv("CLANG") : "clang-19", o.words ? o.words : "cuda_words.h");
  char *line = NULL;
  size_t room = 0;
  Program p = {0};
  Counts k = {0};
  int64_t number = 0;
  while (getline(&line, &room, f) > 0) {
    struct json_object *r = json_tokener_parse(line);
    if (r && number++ % o.every == 0) run_record(&o, &p, r, &k);
    json_object_put(r);
  }
  printf("on %s: %d right, %d beyond its limits, %d refused, %d WRONG\n", o.device, k.right,
         k.beyond, k.refused, k.wrong);
  forget(&p);
  free(line);
  fclose(f);
  json_object_put(o.intrinsics);
  json_object_put(o.programs);
  return k.wrong ? 1 : 0;
}
