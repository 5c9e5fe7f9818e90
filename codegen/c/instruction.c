/* Instructions of the user's own (ir/tree/c_code.h), and what only they reach: memory of the scopes
 * "array.NAME". */
#include "gen.h"
#include "ir/ascii.h"
#include "ir/tree/c_code.h"

#include <stdlib.h>

static void include(Gen *g, const char *header) {
  for (int i = 0; i < g->file->headers.n; i++)
    if (!strcmp(g->file->headers.at[i], header)) return;
  vec_push(g->c, g->file->headers, header);
}

static const char *operand(Gen *g, Expr e) {
  const bool is_place = tirc_calls(e, CALL_ADDRESS_OF) && e->n == 1 && e->args[0]->op == OP_LOAD;
  return is_place ? tirc_cg_address(g, e->args[0]).s
                  : tirc_c_operand(g->c, tirc_src_scalar(g, e), BINDS_ALL);
}

void tirc_cg_instruction(Gen *g, Stmt s) {
  const CCode x = tirc_c_code_of(g->c, s);
  Text line = {.c = g->c};
  include(g, x.header);
  for (const char *p = x.text; *p; p++) {
    if (*p != '{' || !tirc_is_digit(p[1])) {
      tirc_text_addf(&line, "%c", *p);
      continue;
    }
    char *end;
    tirc_text_add(&line, operand(g, x.operands[strtol(p + 1, &end, 10)]));
    p = end;
  }
  tirc_src_line(g, "%s", line.at ? line.at : ";");
}

void tirc_cg_require_reach(Gen *g, Buffer b) {
  if (tirc_is_device_memory(b))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "tensorize the statement by an intrinsic that has C text",
              "%s lies in memory \"%s\", which C reaches by instructions alone", b->name, b->scope);
}

/* "array_weights" of the scope "array.weights". */
const char *tirc_cg_memory_name(Gen *g, Buffer b) {
  char *name = tirc_strndup(g->c, b->scope, strlen(b->scope));
  for (char *p = name; *p; p++)
    if (!tirc_is_letter_or_digit(*p)) *p = '_';
  return name;
}
