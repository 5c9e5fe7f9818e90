/* Statements that C has in a way of its own: the ways out of a function, loops on threads. */
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/int_op.h"

static void directive(Gen *g, const char *text) { tirc_text_addf(g->out, "#%s\n", text); }

Text *tirc_cg_begin_body(Gen *g, Text *body) {
  Text *outer = g->out;
  g->out = body;
  return outer;
}

void tirc_cg_end_body(Gen *g, Text *outer, const Text *body) {
  g->out = outer;
  if (body->n) tirc_text_addn(outer, body->at, body->n);
}

/* --- the ways out --------------------------------------------------------------------------- */

static const char *way_out(Gen *g) { return tirc_format(g->c, "next_%d", g->file->n_parallel); }

void tirc_cg_leave_if(Gen *g, const char *cond, const char *status) {
  tirc_src_open(g, "if (%s) {", cond);
  for (Held *h = g->file->held; h; h = h->outer) tirc_cg_free(g, h);
  if (g->file->in_parallel && g->file->what->has_runtime) {
    g->file->leaves = true;
    tirc_src_line(g, "*tirc_k->tirc_status = %s;", status);
    tirc_src_line(g, "return;");
  } else if (g->file->in_parallel) {
    g->file->leaves = true;
    directive(g, "ifdef _OPENMP");
    directive(g, "pragma omp atomic write");
    directive(g, "endif");
    tirc_src_line(g, "status = %s;", status);
    tirc_src_line(g, "goto %s;", way_out(g));
  } else {
    tirc_src_line(g, "return %s;", status);
  }
  tirc_src_close(g);
}

/* --- loops ---------------------------------------------------------------------------------- */

static const char *bound(Gen *g, Expr e, DType t) {
  return tirc_c_operand(g->c, tirc_src_bound(g, e, t), BINDS_SUM);
}

/* Whether the end, one past the last value, may be no number of the variable's type: with 1 to 255
 * in uint8, i < 256 would hold for ever. Then the steps are counted, up to the extent. */
static bool may_end_beyond(const For *loop) {
  const DType t = loop->var->dtype;
  int64_t first, extent;
  if (!tirc_dtype_wraps(t) || tirc_is_int(loop->min, 0)) return false;
  if (!tirc_const_int(loop->min, &first) || !tirc_const_int(loop->extent, &extent)) return true;
  return extent > 0 && first > tirc_dtype_max(t) - extent;
}

static void loop_line(Gen *g, const For *loop, const char *min, const char *end) {
  DType t = loop->var->dtype;
  Name *i = tirc_src_declare(g, loop->var, loop->var->u.s);
  int64_t n;
  tirc_src_put_ahead(g);
  if (loop->kind == LOOP_UNROLLED && tirc_const_int(loop->extent, &n) && n > 1 && n < 65535 &&
      !tirc_cg_is_portable(g))
    tirc_text_addf(g->out, "#pragma GCC unroll %d\n", (int)n);
  const char *type = tirc_c_type(t);
  if (!may_end_beyond(loop)) {
    tirc_src_open(g, "for (%s %s = %s; %s < %s; %s++) {", type, i->s, min, i->s, end, i->s);
    return;
  }
  const char *k = tirc_src_name(g, tirc_format(g->c, "%s_step", loop->var->u.s));
  tirc_src_open(g, "for (%s %s = 0; %s < %s; %s++) {", type, k, k, end, k);
  tirc_src_line(g, "const %s %s = (%s)(%s + %s);", type, i->s, type, min, k);
}

/* A bound that reads memory is read once, before the loop. */
static const char *end_of(Gen *g, const For *loop, const char **min) {
  Tirc *c = g->c;
  DType t = loop->var->dtype;
  const char *type = tirc_c_type(t), *name = loop->var->u.s;
  *min = bound(g, loop->min, t);
  if (tirc_loads_or_calls(loop->min)) {
    const char *start = tirc_src_name(g, tirc_format(c, "%s_start", name));
    tirc_src_line(g, "const %s %s = %s;", type, start, *min);
    *min = start;
  }
  int64_t first, extent;
  bool is_const = tirc_const_int(loop->min, &first) && tirc_const_int(loop->extent, &extent);
  const char *end = bound(g, loop->extent, t);
  if (may_end_beyond(loop)) {
    if (is_const) *min = tirc_format(c, "%lld", (long long)first);
  } else if (is_const) {
    end = bound(g, tirc_int(c, t, first + extent), t);
  } else if (!tirc_is_int(loop->min, 0)) {
    end = tirc_format(c, "%s + %s", *min, end);
  }
  if (!tirc_loads_or_calls(loop->extent)) return end;
  const char *stop = tirc_src_name(g, tirc_format(c, "%s_end", name));
  tirc_src_line(g, "const %s %s = %s;", type, stop, end);
  return stop;
}

/* Pieces of the range go to threads as these come, as the library's own pool has it: with as many
 * pieces as threads, one that is late would keep all others waiting. n: how many steps, in C. */
static const char *schedule_of(Gen *g, const For *loop, const char *n) {
  const int64_t chunks = tirc_loop_number(loop, KEY_PARALLEL_CHUNKS);
  int64_t extent;
  if (!chunks) return "schedule(static)";
  if (tirc_const_int(loop->extent, &extent))
    return tirc_format(g->c, "schedule(dynamic, %lld)",
                       (long long)(extent > 0 ? (extent - 1) / chunks + 1 : 1));
  return tirc_format(g->c, "schedule(dynamic, %s > 0 ? (%s - 1) / %lld + 1 : 1)", n, n,
                     (long long)chunks);
}

/* What OpenMP's directive is told. */
static const char *clauses_of(Gen *g, const For *loop, const char *n) {
  const int64_t least = tirc_loop_number(loop, KEY_PARALLEL_FROM);
  const char *schedule = schedule_of(g, loop, n);
  return least <= 1 ? schedule
                    : tirc_format(g->c, "%s if((%s) >= %lld)", schedule, n, (long long)least);
}

static const char *steps_of(Gen *g, const For *loop, const char *min, const char *end) {
  const bool counted = may_end_beyond(loop) || tirc_is_int(loop->min, 0);
  return counted ? end : tirc_format(g->c, "((int64_t)(%s) - (int64_t)(%s))", end, min);
}

static void gen_on_runtime(Gen *g, Stmt s, const char *min, const char *end) {
  const For *loop = &s->u.loop;
  const char *first = tirc_is_int(loop->min, 0) ? NULL : min;
  tirc_cg_parallel(g, loop, first, steps_of(g, loop, min, end), clauses_of(g, loop, "tirc_n"));
}

/* An iteration cannot return: it leaves its status in a variable, for after the loop. */
static void gen_parallel(Gen *g, Stmt s, const char *min, const char *end) {
  const For *loop = &s->u.loop;
  Held *held = g->file->held;
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  g->file->in_parallel = true;
  g->file->leaves = false;
  g->file->held = NULL;
  g->file->n_parallel++;
  const char *clauses = clauses_of(g, loop, steps_of(g, loop, min, end));
  tirc_src_put_ahead(g);
  directive(g, "ifdef _OPENMP");
  tirc_text_addf(g->out, "#pragma omp parallel for %s\n", clauses);
  directive(g, "endif");
  loop_line(g, loop, min, end);
  tirc_src_stmt(g, loop->body);
  if (g->file->leaves) tirc_text_addf(g->out, "%s:;\n", way_out(g));
  tirc_src_close(g);
  g->file->in_parallel = false;
  g->file->held = held;
  g->out = outer;
  if (g->file->leaves) tirc_src_open(g, "{");
  if (g->file->leaves) tirc_src_line(g, "int status = 0;");
  tirc_cg_end_body(g, outer, &body);
  if (g->file->leaves) tirc_cg_leave_if(g, "status", "status");
  if (g->file->leaves) tirc_src_close(g);
}

void tirc_cg_for(Gen *g, Stmt s) {
  const For *loop = &s->u.loop;
  if (loop->kind == LOOP_THREAD_BINDING)
    tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL,
              "the loop %s is bound to the thread axis %s, which this target does not have",
              loop->var->u.s, loop->thread ? loop->thread : "?");
  const int mark = g->taken.n;
  const char *outer_note = g->note, *min;
  bool wrap = tirc_loads_or_calls(loop->min) || tirc_loads_or_calls(loop->extent);
  tirc_src_note(g, tirc_note_loop(g->notes, loop->var, &g->note));
  if (wrap) tirc_src_open(g, "{");
  const char *end = end_of(g, loop, &min);
  if (loop->kind == LOOP_PARALLEL && !g->file->in_parallel && g->file->what->has_runtime) {
    gen_on_runtime(g, s, min, end);
  } else if (loop->kind == LOOP_PARALLEL && !g->file->in_parallel) {
    gen_parallel(g, s, min, end);
  } else {
    loop_line(g, loop, min, end);
    tirc_src_stmt(g, loop->body);
    tirc_src_close(g);
  }
  if (wrap) tirc_src_close(g);
  if (g->note != outer_note && outer_note) g->note = "";
  tirc_map_remove(&g->vars, loop->var);
  g->taken.n = mark;
}

/* --- the others ----------------------------------------------------------------------------- */

/* Whether it would declare a name in the scope that it stands in. */
static bool declares(Stmt s) {
  while (s->kind == STMT_DECL || s->kind == STMT_ATTR || s->kind == STMT_ASSERT)
    s = tirc_below(s, 0);
  return s->kind == STMT_ALLOC || s->kind == STMT_LET;
}

void tirc_cg_seq(Gen *g, Stmt s) {
  for (int i = 0; i < s->u.seq.n; i++) {
    if (i + 1 < s->u.seq.n && tirc_cg_pair(g, tirc_item(s, i), tirc_item(s, i + 1))) {
      i++;
      continue;
    }
    bool wrap = i + 1 < s->u.seq.n && declares(tirc_item(s, i));
    if (wrap) tirc_src_open(g, "{");
    tirc_src_stmt(g, tirc_item(s, i));
    if (wrap) tirc_src_close(g);
  }
}

/* A variable that nobody reads is left out. */
void tirc_cg_bind(Gen *g, Stmt s) {
  Expr var = s->u.let.var, value = s->u.let.value;
  int lanes = var->dtype.lanes, mark = g->taken.n;
  Window one = {0, lanes, "0"};
  if (lanes > 1) one.lane = tirc_src_name(g, "lane");
  CText v = tirc_src_cast(g, tirc_src_expr(g, value, &one), value->dtype, var->dtype);
  g->taken.n = mark;
  Name *name = tirc_src_declare(g, var, var->u.s);
  name->is_array = lanes > 1;
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  tirc_src_stmt(g, s->u.let.body);
  g->out = outer;
  const char *type = tirc_src_value_type(g, tirc_dtype_lanes(var->dtype, 1));
  if (name->used && lanes > 1) {
    tirc_src_line(g, "%s %s[%d];", type, name->s, lanes);
    tirc_src_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", one.lane, one.lane, lanes,
                  one.lane, name->s, one.lane, v.s);
  } else if (name->used) {
    tirc_src_line(g, "%s%s %s = %s;", var->dtype.code == TYPE_HANDLE ? "" : "const ", type, name->s,
                  v.s);
  }
  tirc_cg_end_body(g, outer, &body);
  tirc_map_remove(&g->vars, var);
  g->taken.n = mark;
}

void tirc_cg_check(Gen *g, Stmt s) {
  CText cond =
      tirc_src_cast(g, tirc_src_scalar(g, s->u.check.cond), s->u.check.cond->dtype, DT_BOOL);
  const int code = tirc_failure_code(g->c, &g->file->failures, g->file->function, s);
  tirc_cg_leave_if(g, tirc_format(g->c, "!%s", tirc_c_operand(g->c, cond, BINDS_ALL)),
                   tirc_format(g->c, "%d", code));
  tirc_src_stmt(g, s->u.check.body);
}

void tirc_cg_eval(Gen *g, Stmt s) {
  Expr e = s->u.eval.value;
  if (e->op == OP_STRING || e->op == OP_INT || e->dtype.lanes > 1) return;
  CText v = tirc_src_scalar(g, e);
  bool is_void = tirc_calls(e, CALL_PREFETCH);
  if (is_void)
    tirc_src_line(g, "%s;", v.s);
  else
    tirc_src_line(g, "(void)%s;", tirc_c_operand(g->c, v, BINDS_CAST));
}
