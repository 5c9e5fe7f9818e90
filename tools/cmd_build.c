/* `tirc build`: code in one of several forms. */
#include "tool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  tirc_emit_kind kind;
} kinds[] = {{"llvm", TIRC_EMIT_LLVM},
             {"asm", TIRC_EMIT_ASM},
             {"obj", TIRC_EMIT_OBJECT},
             {"header", TIRC_EMIT_HEADER}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* As a name in C: what stands for no letter or digit becomes "_", and it must not be main again. */
static char *symbol_name(const char *stem) {
  size_t n = strlen(stem) + 3;
  char *name = malloc(n);
  if (!name) return NULL;
  bool plain = !isdigit((unsigned char)*stem) && strcmp(stem, "main") != 0;
  snprintf(name, n, "%s%s", plain ? "" : "k_", stem);
  for (char *p = name; *p; p++)
    if (!isalnum((unsigned char)*p)) *p = '_';
  return name;
}

static char *object_name(const char *stem) {
  size_t n = strlen(stem) + 3;
  char *name = malloc(n);
  if (name) snprintf(name, n, "%s.o", stem);
  return name;
}

int cmd_build(Options *o) {
  const char *wanted = o->emit ? o->emit : "llvm";
  int k = 0;
  while (k < N_KINDS && strcmp(kinds[k].name, wanted) != 0) k++;
  if (k == N_KINDS)
    return complain(o, NULL, "--emit is llvm, asm, obj or header, not '%s'", wanted);
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  char *bytes = NULL, *base = path_stem(o->args.at[0]), *symbol = symbol_name(base), *name = NULL;
  size_t n = 0;
  int status = load_scheduled(o, NULL, &m);
  if (status == DONE && tirc_module_emit(m, kinds[k].kind, o->target, symbol, &bytes, &n, &e))
    status = report(o, e);
  if (status == DONE) {
    if (!o->output && kinds[k].kind == TIRC_EMIT_OBJECT) name = object_name(base);
    status = write_output(o, o->output ? o->output : name, bytes, n);
  }
  free(name);
  free(symbol);
  free(base);
  tirc_string_free(bytes);
  tirc_module_free(m);
  return status;
}
