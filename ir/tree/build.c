/* Constructors of all nodes. They copy the arrays that they are given, so callers build them on the
 * stack; they check nothing but what would make a node meaningless. */
#include "annotations.h"
#include "ir.h"

#include <math.h>

const OpInfo tirc_ops[OP_COUNT] = {
#define OP(id, name, arity, class, precedence, c_form)                                             \
  {name, arity, OPCLASS_##class, precedence, c_form},
#include "ops.def"
#undef OP
};

const char *const tirc_node_names[OP_COUNT] = {
    [OP_VAR] = "Var",
    [OP_INT] = "IntImm",
    [OP_LARGE_UINT] = "IntImm",
    [OP_FLOAT] = "FloatImm",
    [OP_STRING] = "StringImm",
    [OP_ADD] = "Add",
    [OP_SUB] = "Sub",
    [OP_MUL] = "Mul",
    [OP_DIV] = "Div",
    [OP_FLOORDIV] = "FloorDiv",
    [OP_FLOORMOD] = "FloorMod",
    [OP_MIN] = "Min",
    [OP_MAX] = "Max",
    [OP_EQ] = "EQ",
    [OP_NE] = "NE",
    [OP_LT] = "LT",
    [OP_LE] = "LE",
    [OP_GT] = "GT",
    [OP_GE] = "GE",
    [OP_AND] = "And",
    [OP_OR] = "Or",
    [OP_NOT] = "Not",
    [OP_CAST] = "Cast",
    [OP_SELECT] = "Select",
    [OP_LOAD] = "BufferLoad",
    [OP_RAMP] = "Ramp",
    [OP_BROADCAST] = "Broadcast",
};

const char *const tirc_callees[CALL_COUNT] = {
#define CALL(id, name, gives) name,
#include "calls.def"
#undef CALL
};

_Noreturn static void too_large(Tirc *c, const char *what, int limit) {
  tirc_fail(c, (Loc){0}, CODE_LIMIT, "make fewer loops and shorter expressions", "%s: more than %d",
            what, limit);
}

/* Levels of syntax that a node adds to its operands'. */
static int levels(Op op) { return op == OP_LET ? 3 : op == OP_RAMP ? 2 : 1; }

/* Folding leaves an operation on constants as it is when its type does not hold the result. */
static bool leaves_type(Op op, DType t, int n, const Expr *args) {
  return (op == OP_ADD || op == OP_SUB || op == OP_MUL) && tirc_dtype_is_int(t) && n == 2 &&
         tirc_is_integer(args[0]) && tirc_is_integer(args[1]);
}

static struct ExprNode *node(Tirc *c, Op op, DType t, int n, const Expr *args) {
  struct ExprNode *e = tirc_alloc(c, sizeof *e + (size_t)n * sizeof(Expr));
  e->op = (uint8_t)op;
  e->dtype = t;
  e->n = n;
  if (n) memcpy(e->args, args, (size_t)n * sizeof(Expr));
  e->overflows = leaves_type(op, t, n, args);
  int depth = 0;
  uint64_t size = 1;
  for (int i = 0; i < n; i++) {
    if (args[i]->depth > depth) depth = args[i]->depth;
    size += args[i]->size;
    e->overflows |= args[i]->overflows;
  }
  depth += levels(op);
  if (depth > EXPR_MAX_DEPTH) too_large(c, "an expression would nest too deeply", EXPR_MAX_DEPTH);
  if (size > EXPR_MAX_SIZE) too_large(c, "an expression would have too many parts", EXPR_MAX_SIZE);
  e->depth = (uint16_t)depth;
  e->size = (uint32_t)size;
  return e;
}

Expr tirc_expr(Tirc *c, Op op, DType t, int n, const Expr *args) { return node(c, op, t, n, args); }

Expr tirc_var(Tirc *c, const char *name, DType t) {
  struct ExprNode *e = node(c, OP_VAR, t, 0, NULL);
  e->u.s = name;
  return e;
}

Expr tirc_int(Tirc *c, DType t, int64_t v) {
  if (t.lanes > 1) return tirc_broadcast(c, tirc_int(c, tirc_dtype_lanes(t, 1), v), t.lanes);
  struct ExprNode *e = node(c, OP_INT, t, 0, NULL);
  e->u.i = v;
  e->overflows = tirc_dtype_is_int(t) && (v < tirc_dtype_min(t) || v > tirc_dtype_max(t));
  return e;
}

Expr tirc_uint64(Tirc *c, uint64_t v) {
  if (v <= INT64_MAX) return tirc_int(c, DT_UINT64, (int64_t)v);
  struct ExprNode *e = node(c, OP_LARGE_UINT, DT_UINT64, 0, NULL);
  e->u.i = (int64_t)v;
  return e;
}

Expr tirc_int_of_bits(Tirc *c, DType t, int64_t bits) {
  return tirc_dtype_equal(t, DT_UINT64) ? tirc_uint64(c, (uint64_t)bits) : tirc_int(c, t, bits);
}

Expr tirc_int32(Tirc *c, int64_t v) { return tirc_int(c, DT_INT32, v); }
Expr tirc_bool(Tirc *c, bool v) { return tirc_int(c, DT_BOOL, v); }

Expr tirc_float(Tirc *c, DType t, double v) {
  struct ExprNode *e = node(c, OP_FLOAT, t, 0, NULL);
  e->u.f = v;
  return e;
}

Expr tirc_limit(Tirc *c, DType t, int which) {
  if (tirc_dtype_is_float(t)) {
    return tirc_float(c, t, which == 2 ? HUGE_VAL : which * tirc_largest_float(t));
  }
  if (which == 2 || (!tirc_dtype_is_int(t) && t.code != TYPE_BOOL)) return NULL;
  if (t.code == TYPE_BOOL) return tirc_bool(c, which > 0);
  if (which > 0 && tirc_dtype_equal(t, DT_UINT64)) return tirc_uint64(c, UINT64_MAX);
  return tirc_int(c, t, which > 0 ? tirc_dtype_max(t) : tirc_dtype_min(t));
}

Expr tirc_neutral(Tirc *c, Op op, DType t) {
  const bool is_float = tirc_dtype_is_float(t);
  switch (op) {
  case OP_ADD:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR:
  case OP_MUL: {
    const int number = op == OP_MUL;
    return is_float ? tirc_float(c, t, number) : tirc_int(c, t, number);
  }
  case OP_BITWISE_AND: return tirc_int_of_bits(c, t, -1);
  /* The greatest of infinities below 0 is one: the least finite float is no neutral element. */
  case OP_MIN: return is_float ? tirc_float(c, t, HUGE_VAL) : tirc_limit(c, t, 1);
  case OP_MAX: return is_float ? tirc_float(c, t, -HUGE_VAL) : tirc_limit(c, t, -1);
  default: return NULL;
  }
}

Expr tirc_string(Tirc *c, const char *s) {
  struct ExprNode *e = node(c, OP_STRING, DT_HANDLE, 0, NULL);
  e->u.s = s;
  return e;
}

Expr tirc_load(Tirc *c, Buffer b, int n, const Expr *indices) {
  DType t = b->dtype;
  for (int i = 0; i < n; i++)
    if (indices[i]->dtype.lanes > 1) t = tirc_dtype_lanes(t, t.lanes * indices[i]->dtype.lanes);
  struct ExprNode *e = node(c, OP_LOAD, t, n, indices);
  e->u.buffer = b;
  return e;
}

Expr tirc_call(Tirc *c, DType t, Callee callee, int n, const Expr *args) {
  struct ExprNode *e = node(c, OP_CALL, t, n, args);
  e->u.callee = callee;
  return e;
}

Expr tirc_ramp(Tirc *c, Expr base, Expr stride, int lanes) {
  if (lanes == 1) return base;
  return node(c, OP_RAMP, tirc_dtype_lanes(base->dtype, lanes), 2, (Expr[]){base, stride});
}

Expr tirc_broadcast(Tirc *c, Expr value, int lanes) {
  if (lanes == 1) return value;
  return node(c, OP_BROADCAST, tirc_dtype_lanes(value->dtype, lanes), 1, &value);
}

bool tirc_const_int(Expr e, int64_t *out) {
  if (e->op != OP_INT) return false;
  *out = e->u.i;
  return true;
}

const char *tirc_digits(Tirc *c, Expr e) {
  return e->op == OP_LARGE_UINT ? tirc_format(c, "%llu", (unsigned long long)e->u.i)
                                : tirc_format(c, "%lld", (long long)e->u.i);
}

bool tirc_is_int(Expr e, int64_t v) { return e && e->op == OP_INT && e->u.i == v; }

/* --- statements ------------------------------------------------------------------------------- */

static struct StmtNode *stmt(Tirc *c, StmtKind kind) {
  struct StmtNode *s = tirc_new(c, struct StmtNode);
  s->kind = kind;
  return s;
}

static Attrs copy_attrs(Tirc *c, Attrs a) { return (Attrs){tirc_copy(c, a.at, a.n), a.n}; }

typedef struct Nesting {
  Tirc *c;
  int exprs, stmts; /* the depth of the deepest */
} Nesting;

static void holds_expr(Nesting *k, Expr e) {
  if (!e) return;
  if (e->depth > k->exprs) k->exprs = e->depth;
  k->c->n_overflows += e->overflows;
}

static void holds_exprs(Nesting *k, int n, const Expr *at) {
  for (int i = 0; i < n; i++) holds_expr(k, at[i]);
}

static void holds_ranges(Nesting *k, int n, const Range *at) {
  for (int i = 0; i < n; i++) {
    holds_expr(k, at[i].min);
    holds_expr(k, at[i].extent);
  }
}

static void holds_attrs(Nesting *k, Attrs a) {
  for (int i = 0; i < a.n; i++) holds_expr(k, a.at[i].value);
}

static void holds_stmt(Nesting *k, Stmt s) {
  if (s && s->depth > k->stmts) k->stmts = s->depth;
}

static void holds_buffer(Nesting *k, Buffer b) {
  holds_exprs(k, b->ndim, b->shape);
  if (b->strides) holds_exprs(k, b->ndim, b->strides);
  holds_expr(k, b->elem_offset);
}

static void holds_allocs(Nesting *k, Block *b) {
  if (b->measured != b->allocs || b->n_measured != b->n_allocs) {
    Nesting own = {.c = k->c};
    for (int i = 0; i < b->n_allocs; i++) holds_buffer(&own, b->allocs[i]);
    b->measured = b->allocs;
    b->n_measured = b->n_allocs;
    b->allocs_depth = own.exprs;
  }
  if (b->allocs_depth > k->exprs) k->exprs = b->allocs_depth;
}

static void holds_block(Nesting *k, Block *b) {
  for (int i = 0; i < b->n_iters; i++) holds_ranges(k, 1, &b->iters[i].dom);
  holds_exprs(k, b->n_iters, b->iter_values);
  holds_expr(k, b->predicate);
  for (int i = 0; i < b->n_reads; i++) holds_ranges(k, b->reads[i].buffer->ndim, b->reads[i].dims);
  for (int i = 0; i < b->n_writes; i++)
    holds_ranges(k, b->writes[i].buffer->ndim, b->writes[i].dims);
  holds_allocs(k, b);
  for (int i = 0; i < b->n_matches; i++) {
    holds_buffer(k, b->matches[i].buffer);
    holds_ranges(k, b->matches[i].source.buffer->ndim, b->matches[i].source.dims);
  }
  holds_attrs(k, b->annotations);
  holds_stmt(k, b->init);
  holds_stmt(k, b->body);
}

Stmt tirc_below(Stmt s, int i) {
  if (s->kind == STMT_SEQ) return i < s->u.seq.n ? tirc_item(s, i) : NULL;
  if (i) return s->kind == STMT_IF && i == 1 ? s->u.branch.else_case : NULL;
  switch (s->kind) {
  case STMT_IF: return s->u.branch.then_case;
  case STMT_WHILE: return s->u.loop_while.body;
  case STMT_LET: return s->u.let.body;
  case STMT_ALLOC:
  case STMT_DECL: return s->u.alloc.body;
  case STMT_ATTR: return s->u.attr.body;
  case STMT_ASSERT: return s->u.check.body;
  default: return NULL;
  }
}

static void holds_parts(Nesting *k, struct StmtNode *s) {
  Stmt below;
  switch (s->kind) {
  case STMT_FOR:
    holds_ranges(k, 1, &(Range){s->u.loop.min, s->u.loop.extent});
    holds_attrs(k, s->u.loop.annotations);
    holds_stmt(k, s->u.loop.body);
    return;
  case STMT_BLOCK: holds_block(k, &s->u.block); return;
  case STMT_SEQ: return;
  case STMT_STORE:
    holds_exprs(k, s->u.store.n, s->u.store.indices);
    holds_expr(k, s->u.store.value);
    return;
  case STMT_EVAL: holds_expr(k, s->u.eval.value); break;
  case STMT_IF: holds_expr(k, s->u.branch.cond); break;
  case STMT_WHILE: holds_expr(k, s->u.loop_while.cond); break;
  case STMT_LET: holds_expr(k, s->u.let.value); break;
  case STMT_ALLOC:
  case STMT_DECL:
    holds_buffer(k, s->u.alloc.buffer);
    holds_attrs(k, s->u.alloc.annotations);
    break;
  case STMT_ATTR:
    holds_expr(k, s->u.attr.node);
    holds_expr(k, s->u.attr.value);
    break;
  case STMT_ASSERT: holds_expr(k, s->u.check.cond); break;
  }
  for (int i = 0; (below = tirc_below(s, i)); i++) holds_stmt(k, below);
}

Stmt tirc_stmt_done(Tirc *c, struct StmtNode *s) {
  enum { OWN = 6 }; /* with .. T.reads(A[i:i + e]): levels from a statement to its expressions */
  Nesting k = {.c = c};
  holds_parts(&k, s);
  const int own = k.exprs + OWN, below = k.stmts + 1, depth = own > below ? own : below;
  if (depth > TIRC_MAX_DEPTH) too_large(c, "the program would nest too deeply", TIRC_MAX_DEPTH);
  s->depth = (uint16_t)depth;
  return s;
}

Stmt tirc_for(Tirc *c, const For *loop) {
  struct StmtNode *s = stmt(c, STMT_FOR);
  s->u.loop = *loop;
  s->u.loop.min = tirc_cast(c, loop->var->dtype, loop->min);
  s->u.loop.extent = tirc_cast(c, loop->var->dtype, loop->extent);
  s->u.loop.annotations = copy_attrs(c, loop->annotations);
  s->u.loop.axis = tirc_gpu_axis(loop->thread);
  return tirc_stmt_done(c, s);
}

Stmt tirc_for_serial(Tirc *c, Expr var, Expr extent, Stmt body) {
  return tirc_for(c, &(For){.var = var,
                            .min = tirc_int(c, var->dtype, 0),
                            .extent = extent,
                            .kind = LOOP_SERIAL,
                            .body = body});
}

static const IterVar *copy_iters(Tirc *c, const IterVar *from, int n) {
  IterVar *to = tirc_copy(c, from, n);
  for (int i = 0; i < n; i++) {
    const DType t = from[i].var->dtype;
    to[i].dom = tirc_range(tirc_cast(c, t, from[i].dom.min), tirc_cast(c, t, from[i].dom.extent));
  }
  return to;
}

/* A constant has the iterator's type; any other value keeps its own. */
static const Expr *copy_values(Tirc *c, const Block *b) {
  Expr *to = tirc_copy(c, b->iter_values, b->n_iters);
  for (int i = 0; i < b->n_iters; i++)
    if (to[i]->op == OP_INT) to[i] = tirc_cast(c, b->iters[i].var->dtype, to[i]);
  return to;
}

/* Both ends of a range are of one type, as in the text. */
static Range of_one_type(Tirc *c, Range r) {
  if (tirc_dtype_equal(r.min->dtype, r.extent->dtype)) return r;
  const DType t = tirc_is_int(r.extent, 1) ? r.min->dtype : tirc_add(c, r.min, r.extent)->dtype;
  return tirc_range(tirc_cast(c, t, r.min), tirc_cast(c, t, r.extent));
}

static const Region *copy_regions(Tirc *c, const Region *from, int n) {
  Region *to = tirc_copy(c, from, n);
  for (int i = 0; i < n; i++) {
    Range *dims = tirc_copy(c, from[i].dims, from[i].buffer->ndim);
    for (int k = 0; k < from[i].buffer->ndim; k++) dims[k] = of_one_type(c, dims[k]);
    to[i].dims = dims;
  }
  return to;
}

Stmt tirc_block(Tirc *c, const Block *b) {
  struct StmtNode *s = stmt(c, STMT_BLOCK);
  Block *to = &s->u.block;
  *to = *b;
  if (!to->id) to->id = c->next_block_id++;
  to->iters = copy_iters(c, b->iters, b->n_iters);
  to->iter_values = copy_values(c, b);
  to->reads = copy_regions(c, b->reads, b->n_reads);
  to->writes = copy_regions(c, b->writes, b->n_writes);
  to->allocs = tirc_copy(c, b->allocs, b->n_allocs);
  to->matches = tirc_copy(c, b->matches, b->n_matches);
  to->annotations = copy_attrs(c, b->annotations);
  if (!to->predicate) to->predicate = tirc_bool(c, true);
  return tirc_stmt_done(c, s);
}

Stmt tirc_store(Tirc *c, Buffer b, int n, const Expr *indices, Expr value) {
  struct StmtNode *s = stmt(c, STMT_STORE);
  s->u.store.buffer = b;
  s->u.store.n = n;
  s->u.store.indices = tirc_copy(c, indices, n);
  s->u.store.value = value;
  return tirc_stmt_done(c, s);
}

Stmt tirc_eval(Tirc *c, Expr value) {
  struct StmtNode *s = stmt(c, STMT_EVAL);
  s->u.eval.value = value;
  return tirc_stmt_done(c, s);
}

Stmt tirc_if(Tirc *c, Expr cond, Stmt then_case, Stmt else_case) {
  struct StmtNode *s = stmt(c, STMT_IF);
  s->u.branch.cond = cond;
  s->u.branch.then_case = then_case;
  s->u.branch.else_case = else_case;
  return tirc_stmt_done(c, s);
}

Stmt tirc_while(Tirc *c, Expr cond, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_WHILE);
  s->u.loop_while.cond = cond;
  s->u.loop_while.body = body;
  return tirc_stmt_done(c, s);
}

Stmt tirc_let(Tirc *c, Expr var, Expr value, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_LET);
  s->u.let.var = var;
  s->u.let.value = value;
  s->u.let.body = body;
  return tirc_stmt_done(c, s);
}

Stmt tirc_alloc_stmt(Tirc *c, StmtKind kind, Buffer b, Attrs annotations, Stmt body) {
  struct StmtNode *s = stmt(c, kind);
  s->u.alloc.buffer = b;
  s->u.alloc.annotations = copy_attrs(c, annotations);
  s->u.alloc.body = body;
  return tirc_stmt_done(c, s);
}

Stmt tirc_attr_stmt(Tirc *c, Expr target, const char *key, Expr value, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_ATTR);
  s->u.attr.node = target;
  s->u.attr.key = key;
  s->u.attr.value = value;
  s->u.attr.body = body;
  return tirc_stmt_done(c, s);
}

Stmt tirc_assert_stmt(Tirc *c, Expr cond, const char *message, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_ASSERT);
  s->u.check.cond = cond;
  s->u.check.message = message;
  s->u.check.body = body;
  return tirc_stmt_done(c, s);
}

Stmt tirc_with_loc(Tirc *c, Stmt s, Loc loc) {
  struct StmtNode *placed = tirc_new(c, struct StmtNode);
  *placed = *s;
  placed->loc = loc;
  return placed;
}

/* --- sequences -------------------------------------------------------------------------------- */

/* A sequence that has the first `before` and the last `after` parts of `from`, and between them m
 * items that are to be filled in at *next. */
static struct StmtNode *with_middle(Tirc *c, Stmt from, int before, int after, int m, Stmt **next) {
  const SeqPart *old = from->u.seq.parts;
  const int n_old = from->u.seq.n_parts, skipped = n_old - after;
  const int first = before < n_old ? old[before].first : from->u.seq.n;
  const int last = after ? old[skipped].first : from->u.seq.n;
  const int split = m <= 2 * SEQ_PART ? m : SEQ_PART, middle = m ? (m + split - 1) / split : 0;
  struct StmtNode *s = stmt(c, STMT_SEQ);
  s->depth = from->depth;
  s->u.seq.n = first + m + from->u.seq.n - last;
  s->u.seq.n_parts = before + middle + after;
  const size_t table = (size_t)s->u.seq.n_parts * sizeof(SeqPart);
  SeqPart *parts = tirc_alloc(c, table + (size_t)m * sizeof(Stmt));
  Stmt *items = *next = (Stmt *)(parts + s->u.seq.n_parts);
  for (int p = 0; p < before; p++) parts[p] = old[p];
  for (int p = 0; p < middle; p++)
    parts[before + p] = (SeqPart){first + p * split, items + p * split};
  for (int p = 0; p < after; p++)
    parts[before + middle + p] =
        (SeqPart){old[skipped + p].first - last + first + m, old[skipped + p].at};
  s->u.seq.parts = parts;
  return s;
}

static int count_flat(int n, const Stmt *at) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    if (at[i]->kind != STMT_SEQ) total++;
    for (int k = 0; at[i]->kind == STMT_SEQ && k < at[i]->u.seq.n; k++)
      total += count_flat(1, (Stmt[]){tirc_item(at[i], k)});
  }
  return total;
}

/* A sequence adds no level. One made of another keeps its depth, whatever left it. */
static void deepen(struct StmtNode *seq, int n, const Stmt *items) {
  for (int i = 0; i < n; i++)
    if (items[i]->depth > seq->depth) seq->depth = items[i]->depth;
}

static void fill(Stmt **next, Stmt s) {
  if (s->kind != STMT_SEQ) *(*next)++ = s;
  for (int k = 0; s->kind == STMT_SEQ && k < s->u.seq.n; k++) fill(next, tirc_item(s, k));
}

static const struct StmtNode no_items = {.kind = STMT_SEQ};

Stmt tirc_seq(Tirc *c, int n, const Stmt *at) {
  const int total = count_flat(n, at);
  Stmt *next;
  struct StmtNode *s = with_middle(c, &no_items, 0, 0, total, &next);
  deepen(s, n, at);
  for (int i = 0; i < n; i++) fill(&next, at[i]);
  return total == 1 ? tirc_item(s, 0) : s;
}

/* Parts that shrank a lot are made anew. */
static bool is_sparse(Stmt seq) { return seq->u.seq.n_parts > 4 + 4 * seq->u.seq.n / SEQ_PART; }

Stmt tirc_seq_splice(Tirc *c, Stmt body, int at, int gone, int n, const Stmt *items) {
  const SeqPart part = {0, &body};
  const struct StmtNode single = {.kind = STMT_SEQ, .depth = body->depth, .u.seq = {1, 1, &part}};
  Stmt from = body->kind == STMT_SEQ ? body : &single, *next;
  if (!from->u.seq.n) return tirc_seq(c, n, items);
  const SeqPart *first = tirc_part(from, at < from->u.seq.n ? at : at - 1);
  const SeqPart *last = gone ? tirc_part(from, at + gone - 1) : first;
  const int begin = first->first, end = tirc_part_end(from, last);
  const int m = at - begin + count_flat(n, items) + end - (at + gone);
  const int before = (int)(first - from->u.seq.parts);
  const int after = from->u.seq.n_parts - 1 - (int)(last - from->u.seq.parts);
  struct StmtNode *s = with_middle(c, from, before, after, m, &next);
  deepen(s, n, items);
  for (int i = begin; i < at; i++) *next++ = tirc_item(from, i);
  for (int i = 0; i < n; i++) fill(&next, items[i]);
  for (int i = at + gone; i < end; i++) *next++ = tirc_item(from, i);
  if (s->u.seq.n == 1) return tirc_item(s, 0);
  return is_sparse(s) ? tirc_seq(c, 1, (Stmt[]){s}) : s;
}

struct StmtNode *tirc_seq_draft(Tirc *c, Stmt seq) {
  struct StmtNode *draft = tirc_new(c, struct StmtNode);
  *draft = *seq;
  draft->u.seq.parts = tirc_copy(c, seq->u.seq.parts, seq->u.seq.n_parts);
  return draft;
}

void tirc_seq_set(Tirc *c, struct StmtNode *draft, Stmt seq, int i, Stmt item) {
  const SeqPart *from = tirc_part(seq, i);
  SeqPart *to = (SeqPart *)(uintptr_t)(draft->u.seq.parts + (from - seq->u.seq.parts));
  if (to->at == from->at) to->at = tirc_copy(c, from->at, tirc_part_end(seq, from) - from->first);
  ((Stmt *)(uintptr_t)to->at)[i - to->first] = item;
  deepen(draft, 1, &item);
}

/* --- buffers, attributes, modules ------------------------------------------------------------- */

Buffer tirc_buffer(Tirc *c, const char *name, DType t, int ndim, const Expr *shape,
                   const char *scope) {
  return tirc_buffer_copy(c, &(struct BufferNode){.name = name,
                                                  .data = tirc_var(c, name, DT_HANDLE),
                                                  .dtype = t,
                                                  .ndim = ndim,
                                                  .shape = shape,
                                                  .scope = scope,
                                                  .align = 64,
                                                  .offset_factor = 0});
}

Buffer tirc_buffer_copy(Tirc *c, const struct BufferNode *b) {
  struct BufferNode *to = tirc_new(c, struct BufferNode);
  *to = *b;
  to->shape = tirc_copy(c, b->shape, b->ndim);
  to->strides = b->strides ? tirc_copy(c, b->strides, b->ndim) : NULL;
  to->axis_separators = tirc_copy(c, b->axis_separators, b->n_axis_separators);
  to->storage = tirc_storage_of(b->scope);
  return to;
}

Expr tirc_attrs_get(Attrs a, const char *key) {
  for (int i = 0; i < a.n; i++)
    if (strcmp(a.at[i].key, key) == 0) return a.at[i].value;
  return NULL;
}

Attrs tirc_attrs_set(Tirc *c, Attrs a, const char *key, Expr value) {
  Attr *at = tirc_new_array(c, Attr, a.n + 1);
  if (a.n) memcpy(at, a.at, (size_t)a.n * sizeof *at);
  int i = 0;
  while (i < a.n && strcmp(at[i].key, key) != 0) i++;
  at[i] = (Attr){key, value};
  return (Attrs){at, i == a.n ? a.n + 1 : a.n};
}

Attrs tirc_attrs_remove(Tirc *c, Attrs a, const char *key) {
  Attr *at = tirc_new_array(c, Attr, a.n);
  int n = 0;
  for (int i = 0; i < a.n; i++)
    if (strcmp(a.at[i].key, key) != 0) at[n++] = a.at[i];
  return (Attrs){at, n};
}

const Func *tirc_func_with_body(Tirc *c, const Func *f, Stmt body) {
  Func *to = tirc_new(c, Func);
  *to = *f;
  to->body = body;
  return to;
}

const Module *tirc_module_with_func(Tirc *c, const Module *m, int i, const Func *f) {
  tirc_context_depend(c, m->c);
  Module *to = tirc_new(c, Module);
  *to = *m;
  to->c = c;
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  memcpy(funcs, m->funcs, (size_t)m->n_funcs * sizeof *funcs);
  funcs[i] = f;
  to->funcs = funcs;
  return to;
}

bool tirc_is_kernel(const Func *f) {
  const Expr global = tirc_attrs_get(f->attrs, tirc_key(KEY_IS_GLOBAL_FUNC));
  const Expr convention = tirc_attrs_get(f->attrs, tirc_key(KEY_CALLING_CONV));
  return (global && tirc_is_int(global, 1)) || (convention && tirc_is_int(convention, 2));
}

bool tirc_has_kernels(const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (tirc_is_kernel(m->funcs[i])) return true;
  return false;
}

bool tirc_is_launch(Expr e) {
  return tirc_calls(e, CALL_PACKED) && e->n > 0 && e->args[0]->op == OP_STRING;
}

int tirc_kernel_number(const Module *m, const char *name) {
  for (int i = 0; i < m->n_funcs; i++)
    if (tirc_is_kernel(m->funcs[i]) && strcmp(m->funcs[i]->name, name) == 0) return i;
  return -1;
}

int tirc_n_launch_params(const Func *kernel) {
  const Expr params = tirc_attrs_get(kernel->attrs, tirc_key(KEY_LAUNCH_PARAMS));
  return params && params->op == OP_TUPLE ? params->n : 0;
}

const char *tirc_launch_param(const Func *kernel, int i) {
  const Expr param = tirc_attrs_get(kernel->attrs, tirc_key(KEY_LAUNCH_PARAMS))->args[i];
  return param->op == OP_STRING ? param->u.s : "";
}

const Func *tirc_module_main(const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (strcmp(m->funcs[i]->name, "main") == 0) return m->funcs[i];
  const Func *only = NULL;
  int n = 0;
  for (int i = 0; i < m->n_funcs; i++)
    if (!tirc_is_kernel(m->funcs[i]) || m->n_funcs == 1) n++, only = m->funcs[i];
  return n == 1 ? only : NULL;
}
