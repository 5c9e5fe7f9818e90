/* ScheduleErrors: how one is raised.
 *
 * A primitive raises where it finds the rule broken; it knows the loop, the block and the
 * condition. The call's text, place and the underlined program are added by tirc_sched_call, which
 * catches the error on its way out (call.c). */
#include "passes/schedule/schedule.h"

void tirc_sched_mark(Sched *s, Stmt stmt) {
  for (int i = 0; i < s->n_marks; i++)
    if (s->marks[i] == stmt) return;
  Stmt *grown = tirc_new_array(s->c, Stmt, s->n_marks + 1);
  if (s->n_marks) memcpy(grown, s->marks, (size_t)s->n_marks * sizeof *grown);
  grown[s->n_marks++] = stmt;
  s->marks = grown;
}

_Noreturn void tirc_sched_error(Sched *s, Stmt at, DiagCode id, const char *condition,
                                const char *hint, const char *format, ...) {
  const CodeInfo *info = &tirc_codes[id];
  va_list args;
  va_start(args, format);
  const char *message = tirc_vformat(s->c, format, args);
  va_end(args);
  if (at) tirc_sched_mark(s, at);
  s->c->diag = (Diag){.status = info->status,
                      .code = id,
                      .loc = s->loc,
                      .message = message,
                      .condition = condition,
                      .hint = hint ? hint : info->hint};
  tirc_throw(s->c);
}

void tirc_sched_warn_code(Sched *s, DiagCode code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const Warning w = {code, s->loc, tirc_vformat(s->c, format, args)};
  va_end(args);
  vec_push(s->c, s->warnings, w);
}

_Noreturn void tirc_raise_warning(Tirc *c, Warning w) {
  c->diag = (Diag){.status = TIRC_STATUS_NO,
                   .code = w.code,
                   .loc = w.loc,
                   .message = w.message,
                   .hint = "leave out --strict (in Python, strict=True) to accept it"};
  tirc_throw(c);
}
