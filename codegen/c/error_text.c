/* What a status says, as a function in C: NAME_error_text(code). */
#include "gen.h"

#define DECLARATION "const char *%s_error_text(int code)"

static void put_case(Tirc *c, Text *t, int code, const char *says) {
  tirc_text_addf(t, "  case %d: return %s;\n", code, tirc_c_quoted(c, says));
}

void tirc_cg_error_text(Tirc *c, Text *t, const char *name, const Failures *f, const Func *only) {
  tirc_text_addf(t, "\n" DECLARATION ";\n" DECLARATION " {\n  switch (code) {\n", name, name);
  for (int code = 0; code < STATUS_FIRST_FAILURE; code++)
    put_case(c, t, code, tirc_status_text(code));
  for (int i = 0; i < f->all.n; i++)
    if (!only || f->all.at[i].func == only)
      put_case(c, t, STATUS_FIRST_FAILURE + i, tirc_failure_text(c, &f->all.at[i]));
  tirc_text_addf(t, "  default: return %s;\n  }\n}\n", tirc_c_quoted(c, tirc_status_text(-1)));
}

void tirc_cg_declare_error_text(Text *t, const char *name) {
  tirc_text_addf(t, "/* What a status of %s means. */\n" DECLARATION ";\n", name, name);
}
