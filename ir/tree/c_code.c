/* What a call with C text must look like. */
#include "c_code.h"

#include "annotations.h"
#include "ir/ascii.h"
#include "print.h"

#include <stdlib.h>

static const char form[] =
    "T.call_intrin(\"int32\", \"array.h\", \"array_mac({0}, {1});\", T.address_of(C[0, 0]), n)";

bool tirc_is_c_code(Stmt s) {
  return s->kind == STMT_ATTR && strcmp(s->u.attr.key, tirc_key(KEY_C_CODE)) == 0;
}

/* A file's name, which stands in quotes in C. */
static bool is_header(const char *name) {
  for (const char *p = name; *p; p++)
    if (!tirc_is_letter_or_digit(*p) && !strchr("._-/+", *p)) return false;
  return *name != '\0';
}

static void check_text(Tirc *c, const CCode *x, Loc loc) {
  for (const char *p = x->text; *p; p++) {
    if (((unsigned char)*p < 32 || *p == 127))
      tirc_fail(c, loc, CODE_INTRINSIC, "macros and functions of the header may have several lines",
                "the C text of an instruction is one line");
    if (*p != '{' || !tirc_is_digit(p[1])) continue;
    char *end;
    const long k = strtol(p + 1, &end, 10);
    if (*end != '}' || k >= x->n)
      tirc_fail(
          c, loc, CODE_INTRINSIC,
          "{0} is the first operand behind the text; with a space behind \"{\" it is C's own, "
          "such as { 1, 2}",
          "the C text \"%s\" has no operand for %.*s: there %s %d", x->text,
          (int)strcspn(p, "}") + 1, p, x->n == 1 ? "is" : "are", x->n);
  }
}

CCode tirc_c_code_of(Tirc *c, Stmt s) {
  const Expr e = s->u.attr.value;
  const Expr *at = e->args;
  const bool is_call = tirc_calls(e, CALL_INTRIN);
  /* The type stands in front where it is an operand. */
  const int first = is_call && e->n > 2 && at[0]->op == OP_STRING && at[1]->op == OP_STRING &&
                            at[2]->op == OP_STRING
                        ? 1
                        : 0;
  if (!is_call || e->n < first + 2 || at[first]->op != OP_STRING || at[first + 1]->op != OP_STRING)
    tirc_fail(c, s->loc, CODE_INTRINSIC, form, "%s has no header and no C text",
              tirc_print_expr(c, e));
  const CCode x = {at[first]->u.s, at[first + 1]->u.s, e->n - first - 2, at + first + 2};
  if (!is_header(x.header))
    tirc_fail(c, s->loc, CODE_INTRINSIC, form, "\"%s\" is no name of a header", x.header);
  check_text(c, &x, s->loc);
  return x;
}
