/* Statements that processors and kernels have alike, and how lines get onto the page. */
#include "gen.h"
#include "ir/tree/find.h"

/* --- lines ----------------------------------------------------------------------------------- */

static void indent(Gen *g) {
  for (int i = 0; i < g->indent; i++) tirc_text_add(g->out, "  ");
}

/* Of each line of the source which line of the program it is for. */
static void put_place(Gen *g) {
  if (!g->lines || g->loc.line <= 0 || !g->loc.file) return;
  tirc_text_addf(g->out, "#line %d \"", g->loc.line);
  for (const char *s = g->loc.file; *s; s++)
    if ((unsigned char)*s < ' ')
      tirc_text_addf(g->out, "\\%03o", (unsigned)*s);
    else
      tirc_text_addf(g->out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
  tirc_text_add(g->out, "\"\n");
}

void tirc_src_put_ahead(Gen *g) {
  for (const char *s = g->ahead.at, *end; g->ahead.n && *s; s = end) {
    end = strchr(s, '\n') + 1;
    put_place(g);
    indent(g);
    tirc_text_addn(g->out, s, (size_t)(end - s));
  }
  g->ahead = (Text){.c = g->c};
}

static void add_line(Gen *g, const char *format, va_list args) {
  tirc_src_put_ahead(g);
  put_place(g);
  indent(g);
  tirc_text_add(g->out, tirc_vformat(g->c, format, args));
  tirc_text_add(g->out, "\n");
}

void tirc_src_line(Gen *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_line(g, format, args);
  va_end(args);
}

void tirc_src_open(Gen *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_line(g, format, args);
  va_end(args);
  g->indent++;
}

void tirc_src_close(Gen *g) {
  g->indent--;
  tirc_src_line(g, "}");
}

void tirc_src_note(Gen *g, const char *text) {
  if (text) tirc_src_line(g, "/* %s */", text);
}

/* --- what loops and accesses have in common --------------------------------------------------- */

CText tirc_src_bound(Gen *g, Expr e, DType t) {
  const bool outer = g->index;
  g->index = !tirc_loads_or_calls(e);
  CText v = tirc_src_operand_as(g, e, t, &tirc_src_first);
  g->index = outer;
  return v;
}

Expr tirc_src_plus(Tirc *c, Expr base, int64_t k) {
  int64_t v;
  if (base->op == OP_ADD && tirc_const_int(base->args[1], &v))
    return tirc_add(c, base->args[0], tirc_int(c, base->dtype, v + k));
  return k ? tirc_add(c, base, tirc_int(c, base->dtype, k)) : base;
}

typedef struct Overlap {
  Buffer b;
  Expr index;
  bool apart, found;
} Overlap;

static bool find_overlap(Visitor *v, Expr e) {
  Overlap *o = v->self;
  if (e->op != OP_LOAD) return true;
  bool same_data = e->u.buffer->data == o->b->data;
  bool same_place = same_data && e->n == 1 && tirc_dtype_equal(e->u.buffer->dtype, o->b->dtype) &&
                    tirc_expr_same(e->args[0], o->index);
  if (!same_place && (same_data || !o->apart)) o->found = true;
  return true;
}

bool tirc_src_overlaps(Stmt s, bool apart) {
  Overlap o = {.b = s->u.store.buffer, .index = s->u.store.indices[0], .apart = apart};
  tirc_visit_expr(&(Visitor){.expr = find_overlap, .self = &o}, s->u.store.value);
  return o.found;
}

/* --- statements ------------------------------------------------------------------------------- */

/* Names in braces end with them. */
static void gen_part(Gen *g, Stmt s) {
  const int mark = g->taken.n;
  tirc_src_stmt(g, s);
  g->taken.n = mark;
}

static void open_with(Gen *g, const char *word, Expr condition) {
  CText c = tirc_src_cast(g, tirc_src_scalar(g, condition), condition->dtype, DT_BOOL);
  tirc_src_open(g, "%s (%s) {", word, c.s);
}

void tirc_src_if(Gen *g, Stmt s) {
  if (s->u.branch.cond->dtype.lanes > 1)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "%s has no masked stores", g->l->name);
  open_with(g, "if", s->u.branch.cond);
  gen_part(g, s->u.branch.then_case);
  if (s->u.branch.else_case) {
    g->indent--;
    tirc_src_open(g, "} else {");
    gen_part(g, s->u.branch.else_case);
  }
  tirc_src_close(g);
}

static void gen_while(Gen *g, Stmt s) {
  open_with(g, "while", s->u.loop_while.cond);
  tirc_src_stmt(g, s->u.loop_while.body);
  tirc_src_close(g);
}

static void gen_decl(Gen *g, Stmt s) { tirc_src_stmt(g, s->u.alloc.body); }
static void gen_attr(Gen *g, Stmt s) { tirc_src_stmt(g, s->u.attr.body); }

static void gen_block(Gen *g, Stmt s) {
  tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL, "the block %s has not been lowered", s->u.block.name);
}

void tirc_src_stmt(Gen *g, Stmt s) {
  static EmitStmt *const generators[STMT_ASSERT + 1] = {
      [STMT_IF] = tirc_src_if, [STMT_WHILE] = gen_while, [STMT_DECL] = gen_decl,
      [STMT_ATTR] = gen_attr,  [STMT_BLOCK] = gen_block,
  };
  const Family *f = g->l->family;
  if (s->loc.line > 0) g->loc = s->loc;
  if (f->stmt && f->stmt(g, s)) return;
  if (s->kind == STMT_STORE)
    tirc_src_note(g, tirc_note_store(g->notes, s->u.store.buffer, &g->note));
  (f->stmts[s->kind] ? f->stmts[s->kind] : generators[s->kind])(g, s);
}
