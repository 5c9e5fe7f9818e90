/* Statements, and how lines get onto the page. */
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/int_op.h"

/* --- lines ---------------------------------------------------------------------------------- */

void tirc_cg_line(CGen *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tirc_c_add_line(g->c, g->out, g->indent, format, args);
  va_end(args);
}

void tirc_cg_open(CGen *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tirc_c_add_line(g->c, g->out, g->indent, format, args);
  va_end(args);
  g->indent++;
}

void tirc_cg_close(CGen *g) {
  g->indent--;
  tirc_cg_line(g, "}");
}

static void directive(CGen *g, const char *text) { tirc_text_addf(g->out, "#%s\n", text); }

Text *tirc_cg_begin_body(CGen *g, Text *body) {
  Text *outer = g->out;
  g->out = body;
  return outer;
}

void tirc_cg_end_body(CGen *g, Text *outer, const Text *body) {
  g->out = outer;
  if (body->n) tirc_text_addn(outer, body->at, body->n);
}

/* --- the ways out --------------------------------------------------------------------------- */

static const char *way_out(CGen *g) { return tirc_format(g->c, "next_%d", g->n_parallel); }

void tirc_cg_leave_if(CGen *g, const char *cond, const char *status) {
  tirc_cg_open(g, "if (%s) {", cond);
  for (Held *h = g->held; h; h = h->outer) tirc_cg_line(g, "free(%s);", h->name);
  if (g->in_parallel) {
    g->leaves = true;
    directive(g, "ifdef _OPENMP");
    directive(g, "pragma omp atomic write");
    directive(g, "endif");
    tirc_cg_line(g, "status = %s;", status);
    tirc_cg_line(g, "goto %s;", way_out(g));
  } else {
    tirc_cg_line(g, "return %s;", status);
  }
  tirc_cg_close(g);
}

/* --- loops ---------------------------------------------------------------------------------- */

static void note(CGen *g, const char *text) {
  if (text) tirc_cg_line(g, "/* %s */", text);
}

static bool find_memory(Visitor *v, Expr e) {
  if (e->op == OP_LOAD || e->op == OP_CALL) *(bool *)v->self = true;
  return true;
}

static bool reads_memory(Expr e) {
  bool found = false;
  tirc_visit_expr(&(Visitor){.expr = find_memory, .self = &found}, e);
  return found;
}

static const char *bound(CGen *g, Expr e, DType t) {
  bool outer = g->index;
  g->index = !reads_memory(e);
  CText v = tirc_cg_cast(g, tirc_cg_scalar(g, e), e->dtype, t);
  g->index = outer;
  return tirc_cg_operand(g, v, BINDS_SUM);
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

static void loop_line(CGen *g, const For *loop, const char *min, const char *end) {
  DType t = loop->var->dtype;
  Name *i = tirc_cg_declare(g, loop->var, loop->var->u.s);
  int64_t n;
  if (loop->kind == LOOP_UNROLLED && tirc_const_int(loop->extent, &n) && n > 1 && n < 65535)
    tirc_text_addf(g->out, "#pragma GCC unroll %d\n", (int)n);
  const char *type = tirc_c_type(t);
  if (!may_end_beyond(loop)) {
    tirc_cg_open(g, "for (%s %s = %s; %s < %s; %s++) {", type, i->s, min, i->s, end, i->s);
    return;
  }
  const char *k = tirc_cg_name(g, tirc_format(g->c, "%s_step", loop->var->u.s));
  tirc_cg_open(g, "for (%s %s = 0; %s < %s; %s++) {", type, k, k, end, k);
  tirc_cg_line(g, "const %s %s = (%s)(%s + %s);", type, i->s, type, min, k);
}

/* A bound that reads memory is read once, before the loop. */
static const char *end_of(CGen *g, const For *loop, const char **min) {
  Tirc *c = g->c;
  DType t = loop->var->dtype;
  const char *type = tirc_c_type(t), *name = loop->var->u.s;
  *min = bound(g, loop->min, t);
  if (reads_memory(loop->min)) {
    const char *start = tirc_cg_name(g, tirc_format(c, "%s_start", name));
    tirc_cg_line(g, "const %s %s = %s;", type, start, *min);
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
  if (!reads_memory(loop->extent)) return end;
  const char *stop = tirc_cg_name(g, tirc_format(c, "%s_end", name));
  tirc_cg_line(g, "const %s %s = %s;", type, stop, end);
  return stop;
}

/* Pieces of the range go to threads as these come, as the library's own pool has it: with as many
 * pieces as threads, one that is late would keep all others waiting. An extent that reads memory is
 * not read again for the size of a piece. */
static const char *schedule_of(CGen *g, Stmt s) {
  int64_t n = 0, extent;
  Expr wish = tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PARALLEL_CHUNKS));
  if (!wish || !tirc_const_int(wish, &n)) return "static";
  if (tirc_const_int(s->u.loop.extent, &extent))
    return tirc_format(g->c, "dynamic, %lld", (long long)(extent > 0 ? (extent - 1) / n + 1 : 1));
  if (reads_memory(s->u.loop.extent)) return "dynamic";
  const char *steps = bound(g, s->u.loop.extent, s->u.loop.var->dtype);
  return tirc_format(g->c, "dynamic, %s > 0 ? (%s - 1) / %lld + 1 : 1", steps, steps, (long long)n);
}

/* An iteration cannot return: it leaves its status in a variable, for after the loop. */
static void gen_parallel(CGen *g, Stmt s, const char *min, const char *end) {
  const For *loop = &s->u.loop;
  Held *held = g->held;
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  g->in_parallel = true;
  g->leaves = false;
  g->held = NULL;
  g->n_parallel++;
  directive(g, "ifdef _OPENMP");
  tirc_text_addf(g->out, "#pragma omp parallel for schedule(%s)\n", schedule_of(g, s));
  directive(g, "endif");
  loop_line(g, loop, min, end);
  tirc_cg_stmt(g, loop->body);
  if (g->leaves) tirc_text_addf(g->out, "%s:;\n", way_out(g));
  tirc_cg_close(g);
  g->in_parallel = false;
  g->held = held;
  g->out = outer;
  if (g->leaves) tirc_cg_open(g, "{");
  if (g->leaves) tirc_cg_line(g, "int status = 0;");
  tirc_cg_end_body(g, outer, &body);
  if (g->leaves) tirc_cg_leave_if(g, "status", "status");
  if (g->leaves) tirc_cg_close(g);
}

static void gen_for(CGen *g, Stmt s) {
  const For *loop = &s->u.loop;
  if (loop->kind == LOOP_THREAD_BINDING)
    tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL,
              "the loop %s is bound to the thread axis %s, which this target does not have",
              loop->var->u.s, loop->thread ? loop->thread : "?");
  int mark = tirc_cg_open_scope(g);
  const char *outer_note = g->note, *min;
  bool wrap = reads_memory(loop->min) || reads_memory(loop->extent);
  note(g, tirc_note_loop(g->notes, loop->var, &g->note));
  if (wrap) tirc_cg_open(g, "{");
  const char *end = end_of(g, loop, &min);
  if (loop->kind == LOOP_PARALLEL && !g->in_parallel) {
    gen_parallel(g, s, min, end);
  } else {
    loop_line(g, loop, min, end);
    tirc_cg_stmt(g, loop->body);
    tirc_cg_close(g);
  }
  if (wrap) tirc_cg_close(g);
  if (g->note != outer_note && outer_note) g->note = "";
  tirc_map_remove(&g->vars, loop->var);
  tirc_cg_close_scope(g, mark);
}

/* --- the others ----------------------------------------------------------------------------- */

static const char *condition(CGen *g, Expr e) {
  return tirc_cg_cast(g, tirc_cg_scalar(g, e), e->dtype, DT_BOOL).s;
}

/* Whether it would declare a name in the scope that it stands in. */
static bool declares(Stmt s) {
  switch (s->kind) {
  case STMT_ALLOC:
  case STMT_LET: return true;
  case STMT_DECL: return declares(s->u.alloc.body);
  case STMT_ATTR: return declares(s->u.attr.body);
  case STMT_ASSERT: return declares(s->u.check.body);
  default: return false;
  }
}

static void gen_seq(CGen *g, Stmt s) {
  for (int i = 0; i < s->u.seq.n; i++) {
    if (i + 1 < s->u.seq.n && tirc_cg_pair(g, tirc_item(s, i), tirc_item(s, i + 1))) {
      i++;
      continue;
    }
    bool wrap = i + 1 < s->u.seq.n && declares(tirc_item(s, i));
    if (wrap) tirc_cg_open(g, "{");
    tirc_cg_stmt(g, tirc_item(s, i));
    if (wrap) tirc_cg_close(g);
  }
}

static void gen_if(CGen *g, Stmt s) {
  tirc_cg_open(g, "if (%s) {", condition(g, s->u.branch.cond));
  tirc_cg_stmt(g, s->u.branch.then_case);
  if (s->u.branch.else_case) {
    g->indent--;
    tirc_cg_open(g, "} else {");
    tirc_cg_stmt(g, s->u.branch.else_case);
  }
  tirc_cg_close(g);
}

static void gen_while(CGen *g, Stmt s) {
  tirc_cg_open(g, "while (%s) {", condition(g, s->u.loop_while.cond));
  tirc_cg_stmt(g, s->u.loop_while.body);
  tirc_cg_close(g);
}

/* A variable that nobody reads is left out. */
static void gen_let(CGen *g, Stmt s) {
  Expr var = s->u.let.var, value = s->u.let.value;
  int lanes = var->dtype.lanes, mark = tirc_cg_open_scope(g);
  Window one = {0, lanes, "0"};
  if (lanes > 1) one.lane = tirc_cg_name(g, "lane");
  CText v = tirc_cg_cast(g, tirc_cg_expr(g, value, &one), value->dtype, var->dtype);
  tirc_cg_close_scope(g, mark);
  Name *name = tirc_cg_declare(g, var, var->u.s);
  name->is_array = lanes > 1;
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  tirc_cg_stmt(g, s->u.let.body);
  g->out = outer;
  const char *type = tirc_cg_value_type(var->dtype);
  if (name->used && lanes > 1) {
    tirc_cg_line(g, "%s %s[%d];", type, name->s, lanes);
    tirc_cg_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", one.lane, one.lane, lanes,
                 one.lane, name->s, one.lane, v.s);
  } else if (name->used) {
    tirc_cg_line(g, "%s%s %s = %s;", var->dtype.code == TYPE_HANDLE ? "" : "const ", type, name->s,
                 v.s);
  }
  tirc_cg_end_body(g, outer, &body);
  tirc_map_remove(&g->vars, var);
  tirc_cg_close_scope(g, mark);
}

static void gen_assert(CGen *g, Stmt s) {
  CText cond = tirc_cg_cast(g, tirc_cg_scalar(g, s->u.check.cond), s->u.check.cond->dtype, DT_BOOL);
  const int code = tirc_failure_code(g->c, &g->failures, g->function, s);
  tirc_cg_leave_if(g, tirc_format(g->c, "!%s", tirc_cg_operand(g, cond, BINDS_ALL)),
                   tirc_format(g->c, "%d", code));
  tirc_cg_stmt(g, s->u.check.body);
}

static void gen_eval(CGen *g, Stmt s) {
  Expr e = s->u.eval.value;
  if (e->op == OP_STRING || e->op == OP_INT || e->dtype.lanes > 1) return;
  CText v = tirc_cg_scalar(g, e);
  bool is_void = e->op == OP_CALL && strcmp(e->u.s, "prefetch") == 0;
  if (is_void)
    tirc_cg_line(g, "%s;", v.s);
  else
    tirc_cg_line(g, "(void)%s;", tirc_cg_operand(g, v, BINDS_CAST));
}

static void gen_store(CGen *g, Stmt s) {
  note(g, tirc_note_store(g->notes, s->u.store.buffer, &g->note));
  tirc_cg_store(g, s);
}

static void gen_decl(CGen *g, Stmt s) { tirc_cg_stmt(g, s->u.alloc.body); }
static void gen_attr(CGen *g, Stmt s) { tirc_cg_stmt(g, s->u.attr.body); }

static void gen_nested_block(CGen *g, Stmt s) {
  tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL, "the block %s has not been lowered", s->u.block.name);
}

void tirc_cg_stmt(CGen *g, Stmt s) {
  static void (*const generators[])(CGen *, Stmt) = {
      [STMT_FOR] = gen_for,         [STMT_BLOCK] = gen_nested_block,
      [STMT_SEQ] = gen_seq,         [STMT_STORE] = gen_store,
      [STMT_EVAL] = gen_eval,       [STMT_IF] = gen_if,
      [STMT_WHILE] = gen_while,     [STMT_LET] = gen_let,
      [STMT_ALLOC] = tirc_cg_alloc, [STMT_DECL] = gen_decl,
      [STMT_ATTR] = gen_attr,       [STMT_ASSERT] = gen_assert,
  };
  if (s->loc.line > 0) g->loc = s->loc;
  generators[s->kind](g, s);
}
