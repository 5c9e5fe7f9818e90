/* `tirc build`: code in one of several forms. */
#include "ir/ascii.h"
#include "link.h"
#include "tools/tool.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  tirc_emit_kind kind;
} kinds[] = {{"llvm", TIRC_EMIT_LLVM},     {"asm", TIRC_EMIT_ASM},
             {"obj", TIRC_EMIT_OBJECT},    {"lib", TIRC_EMIT_OBJECT}, /* linked afterwards */
             {"header", TIRC_EMIT_HEADER}, {"c", TIRC_EMIT_C}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* As a name in C: what stands for no letter or digit becomes "_", and it must not be main again. */
static char *symbol_name(const char *stem) {
  size_t n = strlen(stem) + 3;
  char *name = malloc(n);
  if (!name) return NULL;
  bool plain = !tirc_is_digit(*stem) && strcmp(stem, "main") != 0;
  snprintf(name, n, "%s%s", plain ? "" : "k_", stem);
  for (char *p = name; *p; p++)
    if (!tirc_is_letter_or_digit(*p)) *p = '_';
  return name;
}

static char *object_name(const char *stem, const char *ending) {
  size_t n = strlen(stem) + strlen(ending) + 1;
  char *name = malloc(n);
  if (name) snprintf(name, n, "%s%s", stem, ending);
  return name;
}

/* A function that is called otherwise than in the program; main is what the file is called. */
typedef struct Named {
  const char *path, *main_name;
} Named;

static void note_name(void *self, const char *func, const char *symbol) {
  const Named *named = self;
  const char *wanted = strcmp(func, "main") == 0 ? named->main_name : func;
  if (strcmp(symbol, wanted) != 0)
    fprintf(stderr, "%s: note: %s is called %s in the code: the name %s is C's, or taken\n",
            named->path, func, symbol, wanted);
}

static int emit(const Options *o, const tirc_module *m, tirc_emit_kind kind, const char *symbol,
                const char *path) {
  tirc_error *e = NULL;
  char *bytes = NULL;
  size_t n = 0;
  if (tirc_module_emit(m, kind, o->target, symbol, &bytes, &n, &e)) return report(o, e);
  char *shared = NULL;
  bool is_lib = o->emit && strcmp(o->emit, "lib") == 0;
  int status = is_lib ? link_shared(o, bytes, n, &shared, &n) : DONE;
  if (status == DONE) status = write_output(o, path, is_lib ? shared : bytes, n);
  free(shared);
  tirc_string_free(bytes);
  return status;
}

/* --annotate: the text goes where assembly goes, the figures to --json FILE. If that is standard
 * output, the text only goes to -o. */
static int emit_annotated(const Options *o, const tirc_module *m, const char *symbol) {
  bool json_alone = o->json && strcmp(o->json, "-") == 0 && !o->output;
  int status = o->json ? emit(o, m, TIRC_EMIT_ANNOTATIONS, symbol, o->json) : DONE;
  if (status == DONE && !json_alone) status = emit(o, m, TIRC_EMIT_ANNOTATED, symbol, o->output);
  return status;
}

int cmd_build(Options *o) {
  const char *wanted = o->emit ? o->emit : o->annotate ? "asm" : "llvm";
  int k = 0;
  while (k < N_KINDS && strcmp(kinds[k].name, wanted) != 0) k++;
  if (k == N_KINDS)
    return complain(o, NULL, "--emit is llvm, asm, obj, lib, c or header, not '%s'", wanted);
  tirc_emit_kind kind = kinds[k].kind;
  if (o->annotate && kind != TIRC_EMIT_ASM)
    return complain(o, "leave --emit out", "--annotate is for assembly, not for %s", wanted);
  if (o->json && !o->annotate)
    return complain(o, "tirc build PROG SCHED --annotate --json FILE",
                    "--json keeps the figures of --annotate");
  tirc_module *m = NULL;
  char *base = path_stem(o->args.at[0]), *symbol = symbol_name(base), *name = NULL;
  int status = load_scheduled(o, NULL, &m);
  if (!o->output && kind == TIRC_EMIT_OBJECT)
    name = object_name(base, strcmp(wanted, "lib") == 0 ? ".so" : ".o");
  if (status == DONE && kind != TIRC_EMIT_HEADER) status = check_code(o, m);
  Named named = {o->args.at[0], symbol};
  if (status == DONE) (void)tirc_module_emitted_names(m, symbol, note_name, &named, NULL);
  if (status == DONE)
    status = o->annotate ? emit_annotated(o, m, symbol)
                         : emit(o, m, kind, symbol, o->output ? o->output : name);
  free(name);
  free(symbol);
  free(base);
  tirc_module_free(m);
  return status;
}
