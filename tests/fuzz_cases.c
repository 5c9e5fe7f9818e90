/* Case files (tests/cases) as programs and schedules for the property test to go on from. */
#include "cases.h"
#include "fuzz.h"

#include "ir/tree/verify.h"
#include "ir/tree/visit.h"
#include "parser/program.h"
#include "passes/schedule/shape/shape.h"

#include <stdlib.h>

static bool see_extent(Visitor *v, Stmt s) {
  if (s->kind == STMT_FOR) *(bool *)v->self |= tirc_reads_memory(s->u.loop.extent);
  return true;
}

/* Extents from memory are assumed to be at least 1, which random ones are not. */
static bool has_loaded_extent(const Func *f) {
  bool found = false;
  tirc_visit_stmt(&(Visitor){.stmt = see_extent, .self = &found}, f->body);
  return found;
}

const Module *fuzz_parse(Tirc *c, const char *path, const char *program) {
  Source source = {path, program, strlen(program)};
  const Module *volatile m = NULL;
  Trap t;
  if (TIRC_TRY(c, t)) {
    const Module *parsed = tirc_parse_module(c, &source, 0, NULL);
    tirc_verify(c, parsed);
    m = parsed;
    TIRC_END(c, t);
  }
  return m;
}

const Module *fuzz_case(Tirc *c, const char *path, const char **program, const char **start) {
  char *text = case_read(path);
  const char *why;
  Case read;
  const bool is_case = text && case_parse(c, path, text, &read, &why);
  free(text);
  const Module *m = is_case ? fuzz_parse(c, path, read.program) : NULL;
  const Func *f = m ? tirc_module_main(m) : NULL;
  if (!f || has_loaded_extent(f)) return NULL;
  *program = read.program;
  *start = read.schedule;
  return m;
}
