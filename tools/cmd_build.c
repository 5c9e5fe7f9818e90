/* `tirc build`: code in one of several forms. */
#include "tool.h"

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

/* matmul.tir -> matmul.o, in the current folder. */
static char *object_name(const char *program) {
  const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
  if (strcmp(base, "-") == 0) base = "out";
  const char *dot = strrchr(base, '.');
  int n = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
  size_t size = (size_t)n + 3;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%.*s.o", n, base);
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
  char *bytes = NULL, *name = NULL;
  size_t n = 0;
  int status = load_scheduled(o, NULL, &m);
  if (status == DONE && tirc_module_emit(m, kinds[k].kind, o->target, &bytes, &n, &e))
    status = report(o, e);
  if (status == DONE) {
    if (!o->output && kinds[k].kind == TIRC_EMIT_OBJECT) name = object_name(o->args.at[0]);
    status = write_output(o, o->output ? o->output : name, bytes, n);
  }
  free(name);
  tirc_string_free(bytes);
  tirc_module_free(m);
  return status;
}
