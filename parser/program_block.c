/* Blocks: `with T.block(...)`, its iterators, regions and attributes; and `with` in general. */
#include "reader.h"

/* The block whose own body the call stands in. */
static BlockFrame *block_around(Reader *r, const Call *call) {
  if (!r->block || r->body != r->block->body)
    READ_FAIL(r, call->node, CODE_SYNTAX,
              "move it into the body of `with T.block(...):`, outside of loops and conditions",
              "%s must stand directly in a block", call->name);
  return r->block;
}

/* --- iterators -------------------------------------------------------------------------------- */

static const struct {
  const char *letters;
  IterKind kind;
} remap_kinds[] = {{"S", ITER_SPATIAL}, {"R", ITER_REDUCE}, {"O", ITER_OPAQUE}, {"C", ITER_SCAN}};

static PyValue add_iter(Reader *r, BlockFrame *b, const char *name, IterKind kind, Range dom,
                        DType t, Expr binding) {
  Expr var = tirc_var(r->c, name ? name : "v", t);
  vec_push(r->c, b->iters, ((IterVar){var, dom, kind}));
  vec_push(r->c, b->bindings, binding);
  PyValue v = tirc_py_expr(var);
  v.fresh = true;
  return v;
}

/* An extent, or a (begin, end) pair. */
static Range read_domain(Reader *r, const Syn *s) {
  bool pair = s->kind == SYN_TUPLE || s->kind == SYN_LIST;
  if (pair && s->kids.n != 2)
    READ_FAIL(r, s, CODE_TYPE, NULL, "an iterator's domain is an extent or a pair (begin, end)");
  Range d;
  if (pair) {
    d.min = tirc_read_int(r, s->kids.at[0], "the begin of a domain");
    Expr end = tirc_read_int(r, s->kids.at[1], "the end of a domain");
    tirc_match_types(r, s, &d.min, &end);
    d.extent = tirc_reader_difference(r, d.min, end);
  } else {
    d.extent = tirc_read_int(r, s, "the extent of a domain");
    d.min = tirc_int(r->c, d.extent->dtype, 0);
  }
  int64_t extent;
  if (tirc_const_int(d.extent, &extent) && extent < 0)
    READ_FAIL(r, s, CODE_SHAPE, NULL, "an iterator's domain has %lld values", (long long)extent);
  return d;
}

static PyValue read_axis(Reader *r, const Call *call) {
  BlockFrame *b = block_around(r, call);
  Range dom = read_domain(r, call->args[0]);
  const Syn *at = call->args[1];
  Expr binding =
      at->kind == SYN_NONE ? dom.min : tirc_read_int(r, at, "what an iterator is bound to");
  DType t = call->args[2] ? tirc_read_dtype(r, call->args[2]) : DT_INT32;
  if (dom.min->dtype.bits > t.bits) t.bits = dom.min->dtype.bits;
  if (dom.extent->dtype.bits > t.bits) t.bits = dom.extent->dtype.bits;
  return add_iter(r, b, tirc_target_name(r, 0, 1), (IterKind)call->function->detail, dom, t,
                  binding);
}

static IterKind remap_kind(Reader *r, const Syn *at, char letter) {
  for (size_t i = 0; i < sizeof remap_kinds / sizeof *remap_kinds; i++)
    if (remap_kinds[i].letters[0] == letter) return remap_kinds[i].kind;
  READ_FAIL(r, at, CODE_TYPE, "use S for a spatial iterator and R for a reduction",
            "T.axis.remap does not know the kind of iterator '%c'", letter);
}

static PyValue read_remap(Reader *r, const Call *call) {
  BlockFrame *b = block_around(r, call);
  const char *kinds = tirc_read_string(r, call->args[0], "the kinds of T.axis.remap");
  const Syn *list = call->args[1];
  if (list->kind != SYN_LIST && list->kind != SYN_TUPLE)
    READ_FAIL(r, list, CODE_TYPE, "write T.axis.remap(\"SR\", [i, k])", "expected a list of loops");
  int n = list->kids.n;
  if ((int)strlen(kinds) != n)
    READ_FAIL(r, call->node, CODE_TYPE, "write one letter for each loop, such as \"SR\" for [i, k]",
              "T.axis.remap has %d kind%s for %d loop%s", (int)strlen(kinds),
              strlen(kinds) == 1 ? "" : "s", n, n == 1 ? "" : "s");
  PyValue all = {.kind = PY_TUPLE};
  all.u.list.n = n;
  all.u.list.at = tirc_new_array(r->c, PyValue, n);
  for (int i = 0; i < n; i++) {
    const Syn *at = list->kids.at[i];
    Expr loop = tirc_read_int(r, at, "a loop");
    const Range *range = tirc_map_get(&r->loop_ranges, loop);
    if (!range)
      READ_FAIL(r, at, CODE_TYPE, "T.axis.spatial(extent, expression) binds an expression",
                "T.axis.remap accepts only variables of the loops around it");
    all.u.list.at[i] = add_iter(r, b, tirc_target_name(r, i, n),
                                remap_kind(r, call->args[0], kinds[i]), *range, loop->dtype, loop);
  }
  bool single = n == 1 && !(r->target && r->target->kind != SYN_NAME);
  return single ? all.u.list.at[0] : all;
}

const Function tirc_axis_functions[] = {
    {"axis.spatial", "dom binding dtype?", IN_VALUE, read_axis, ITER_SPATIAL},
    {"axis.S", "dom binding dtype?", IN_VALUE, read_axis, ITER_SPATIAL},
    {"axis.reduce", "dom binding dtype?", IN_VALUE, read_axis, ITER_REDUCE},
    {"axis.R", "dom binding dtype?", IN_VALUE, read_axis, ITER_REDUCE},
    {"axis.opaque", "dom binding dtype?", IN_VALUE, read_axis, ITER_OPAQUE},
    {"axis.scan", "dom binding dtype?", IN_VALUE, read_axis, ITER_SCAN},
    {"axis.remap", "kinds bindings dtype?", IN_VALUE, read_remap, 0},
    {NULL, NULL, 0, NULL, 0},
};

/* --- what a block declares -------------------------------------------------------------------- */

static PyValue read_regions(Reader *r, const Call *call) {
  BlockFrame *b = block_around(r, call);
  bool writes = call->function->detail, *has = writes ? &b->has_writes : &b->has_reads;
  if (*has)
    READ_FAIL(r, call->node, CODE_NAME, NULL, "%s is used twice in block \"%s\"", call->name,
              b->name);
  *has = true;
  const Syn *first = call->args[0];
  bool list = first && !call->n_rest && (first->kind == SYN_LIST || first->kind == SYN_TUPLE);
  int n = list ? first->kids.n : first ? call->n_rest + 1 : 0;
  for (int i = 0; i < n; i++) {
    const Syn *s = list ? first->kids.at[i] : i ? call->rest[i - 1] : first;
    Region region = tirc_read_region(r, s);
    if (writes)
      vec_push(r->c, b->writes, region);
    else
      vec_push(r->c, b->reads, region);
  }
  return PY_VALUE_NONE;
}

static PyValue read_where(Reader *r, const Call *call) {
  BlockFrame *b = block_around(r, call);
  if (b->predicate)
    READ_FAIL(r, call->node, CODE_NAME, "join the conditions with 'and'",
              "T.where is used twice in block \"%s\"", b->name);
  b->predicate = tirc_read_condition(r, call->args[0]);
  return PY_VALUE_NONE;
}

static PyValue read_block_attr(Reader *r, const Call *call) {
  BlockFrame *b = block_around(r, call);
  if (b->has_attrs)
    READ_FAIL(r, call->node, CODE_NAME, "put all keys into one dictionary",
              "%s is used twice in block \"%s\"", call->name, b->name);
  b->has_attrs = true;
  b->attrs = tirc_read_attrs(r, call->args[0]);
  return PY_VALUE_NONE;
}

static PyValue read_func_attr(Reader *r, const Call *call) {
  FuncFrame *f = r->func;
  if (r->body != f->body)
    READ_FAIL(r, call->node, CODE_SYNTAX, NULL,
              "T.func_attr must be at the top level of the function");
  if (f->has_attrs)
    READ_FAIL(r, call->node, CODE_NAME, "put all keys into one dictionary",
              "T.func_attr is used twice");
  f->has_attrs = true;
  Attrs more = tirc_read_attrs(r, call->args[0]);
  for (int i = 0; i < more.n; i++) {
    const char *key = tirc_key_in(r->c, DIALECT_TIR, more.at[i].key);
    f->attrs = tirc_attrs_set(r->c, f->attrs, key, more.at[i].value);
  }
  return PY_VALUE_NONE;
}

static PyValue read_evaluate(Reader *r, const Call *call) {
  tirc_emit(r, call->node, tirc_eval(r->c, tirc_read_expr(r, call->args[0])));
  return PY_VALUE_NONE;
}

/* T.buffer_store(B, value, [indices]) */
static PyValue read_buffer_store(Reader *r, const Call *call) {
  Syn subscript = *call->args[2];
  bool list = subscript.kind == SYN_LIST || subscript.kind == SYN_TUPLE;
  Syn *single[1] = {(Syn *)call->args[2]};
  if (!list) subscript.kids = (SynList){1, single};
  Buffer b = tirc_expect_buffer(r, call->args[0]);
  Expr indices[READER_MAX_DIMS];
  int n = tirc_read_indices(r, &subscript, b, indices);
  PyValue v = tirc_read_value(r, call->args[1]);
  tirc_emit(r, call->node, tirc_make_store(r, call->node, b, n, indices, call->args[1], v));
  return PY_VALUE_NONE;
}

static PyValue only_with(Reader *r, const Call *call) {
  READ_FAIL(r, call->node, CODE_SYNTAX, NULL,
            "%s needs a 'with' before it and a ':' after it: 'with %s(...):'", call->name,
            call->name);
}

const Function tirc_block_functions[] = {
    {"block", "name? no_realize?", IN_WITH, only_with, 0},
    {"sblock", "name? no_realize?", IN_WITH, only_with, 0},
    {"init", "", IN_WITH, only_with, 0},
    {"reads", "first? *", IN_STATEMENT, read_regions, 0},
    {"writes", "first? *", IN_STATEMENT, read_regions, 1},
    {"where", "predicate", IN_STATEMENT, read_where, 0},
    {"block_attr", "attrs", IN_STATEMENT, read_block_attr, 0},
    {"sblock_attr", "attrs", IN_STATEMENT, read_block_attr, 0},
    {"func_attr", "attrs", IN_STATEMENT, read_func_attr, 0},
    {"evaluate", "value", IN_STATEMENT, read_evaluate, 0},
    {"buffer_store", "buffer value indices", IN_STATEMENT, read_buffer_store, 0},
    {NULL, NULL, 0, NULL, 0},
};

/* --- with ------------------------------------------------------------------------------------- */

Stmt tirc_finish_block(Reader *r, BlockFrame *f, Stmt body) {
  Block b = {.name = f->name,
             .n_iters = f->iters.n,
             .iters = f->iters.at,
             .iter_values = f->bindings.at,
             .predicate = f->predicate,
             .n_reads = f->reads.n,
             .n_writes = f->writes.n,
             .n_allocs = f->allocs.n,
             .n_matches = f->matches.n,
             .reads = f->reads.at,
             .writes = f->writes.at,
             .allocs = f->allocs.at,
             .matches = f->matches.at,
             .annotations = f->attrs,
             .init = f->init,
             .body = body};
  return tirc_with_loc(r->c, tirc_block(r->c, &b), f->loc);
}

/* Regions are inferred from the buffers that a block indexes. A buffer that it only uses through
 * its data pointer would be overlooked, so then the text must say what is read and written. */
typedef struct PointerUse {
  Reader *r;
  PtrMap indexed; /* data variables of buffers that are indexed */
  VEC(Expr) pointers;
} PointerUse;

static bool note_expr(Visitor *v, Expr e) {
  PointerUse *use = v->self;
  if (e->op == OP_LOAD) tirc_map_set(use->r->c, &use->indexed, e->u.buffer->data, e);
  if (e->op == OP_VAR && tirc_map_has(&use->r->data, e)) vec_push(use->r->c, use->pointers, e);
  return true;
}

static bool note_stmt(Visitor *v, Stmt s) {
  PointerUse *use = v->self;
  if (s->kind == STMT_STORE)
    tirc_map_set(use->r->c, &use->indexed, s->u.store.buffer->data, s->u.store.buffer);
  const Block *b = &s->u.block;
  for (int i = 0; s->kind == STMT_BLOCK && i < b->n_reads + b->n_writes; i++) {
    Buffer buffer = i < b->n_reads ? b->reads[i].buffer : b->writes[i - b->n_reads].buffer;
    tirc_map_set(use->r->c, &use->indexed, buffer->data, buffer);
  }
  for (int i = 0; s->kind == STMT_BLOCK && i < b->n_allocs; i++)
    tirc_map_set(use->r->c, &use->indexed, b->allocs[i]->data, b->allocs[i]);
  return true;
}

Stmt tirc_reader_infer(Reader *r, Stmt block, bool has_reads, bool has_writes) {
  if (has_reads && has_writes) return block;
  PointerUse use = {.r = r};
  tirc_visit_stmt(&(Visitor){.expr = note_expr, .stmt = note_stmt, .self = &use}, block);
  for (int i = 0; i < use.pointers.n; i++)
    if (!tirc_map_has(&use.indexed, use.pointers.at[i]))
      tirc_fail(r->c, block->loc, CODE_REGION, "write T.reads(...) and T.writes(...) in the block",
                "the regions of block \"%s\" cannot be inferred, because it uses the address of %s",
                block->u.block.name, use.pointers.at[i]->u.s);
  return tirc_infer_regions(r->c, block, has_reads, has_writes);
}

/* Alone in its function, this block would be the root. */
static bool may_be_root(const Reader *r, const BlockFrame *f) {
  return !f->outer && !f->iters.n && r->body == r->func->body && !r->body->scopings.n;
}

static void read_block(Reader *r, const Syn *s, const Call *call) {
  const Syn *name = call->args[0];
  if (name && name->kind != SYN_STRING && (name->kind == SYN_LIST || name->kind == SYN_TUPLE))
    READ_FAIL(r, name, CODE_TYPE,
              "declare the iterators in the block, with T.axis.remap or T.axis.spatial",
              "%s takes only the name of the block", call->name);
  BlockFrame f = {.outer = r->block, .loc = s->loc};
  f.name = name ? tirc_read_string(r, name, "a block's name") : "";
  Body body;
  tirc_enter(r, s);
  tirc_begin_body(r, &body);
  f.body = &body;
  r->block = &f;
  for (int i = 0; i < s->body.n; i++) tirc_read_statement(r, s->body.at[i]);
  Stmt inside = tirc_end_body(r, &body);
  r->block = f.outer;
  r->nest--;
  Stmt block = tirc_finish_block(r, &f, inside);
  r->func->has_blocks = true;
  Uninferred later = {r->body->stmts.n, f.has_reads, f.has_writes};
  if (may_be_root(r, &f))
    vec_push(r->c, r->func->uninferred, later);
  else
    block = tirc_reader_infer(r, block, f.has_reads, f.has_writes);
  tirc_emit(r, s, block);
}

static void read_init(Reader *r, const Syn *s, const Call *call) {
  BlockFrame *b = block_around(r, call);
  if (b->init) READ_FAIL(r, s, CODE_NAME, NULL, "T.init is used twice in block \"%s\"", b->name);
  b->init = tirc_read_body(r, s->body);
}

static void read_items(Reader *r, const Syn *s, int item);

static void read_scope(Reader *r, const Syn *s, int item) {
  const Syn *it = s->kids.at[item];
  r->target = it->b;
  PyValue v = tirc_read_call(r, it->a, IN_SCOPE);
  r->target = NULL;
  if (v.kind != PY_SCOPE) READ_FAIL(r, it, CODE_SYNTAX, NULL, "this cannot follow 'with'");
  Body body;
  tirc_enter(r, s);
  tirc_begin_body(r, &body);
  if (it->b) {
    if (it->b->kind != SYN_NAME) READ_FAIL(r, it->b, CODE_SYNTAX, NULL, "a name must follow 'as'");
    if (v.u.scope->yields.kind == PY_NONE)
      READ_FAIL(r, it->b, CODE_TYPE, NULL, "there is no value for the name '%s'", it->b->s);
    tirc_names_bind(r, it->b, it->b->s, v.u.scope->yields, false);
  }
  read_items(r, s, item + 1);
  Stmt inside = tirc_end_body(r, &body);
  r->nest--;
  tirc_emit(r, s, tirc_wrap(r, v.u.scope, inside));
}

/* The items of one `with` from number `item` on, then its body. */
static void read_items(Reader *r, const Syn *s, int item) {
  if (item == s->kids.n) {
    for (int i = 0; i < s->body.n; i++) tirc_read_statement(r, s->body.at[i]);
    return;
  }
  const Syn *it = s->kids.at[item];
  const char *path;
  const Function *f = tirc_called_function(r, it->a, &path);
  if (!path)
    READ_FAIL(r, it->a, CODE_SYNTAX,
              "with T.block(\"name\"):", "'with' must be followed by a call of T.*");
  if (!f || !(f->where & IN_WITH)) {
    read_scope(r, s, item);
    return;
  }
  if (it->b || s->kids.n != 1)
    READ_FAIL(r, it, CODE_SYNTAX, NULL, "%s is used after 'with' without 'as'", path);
  Call call;
  tirc_bind_call(r, it->a, path, f->signature, &call);
  call.function = f;
  if (strcmp(f->name, "init") == 0)
    read_init(r, s, &call);
  else
    read_block(r, s, &call);
}

void tirc_read_with(Reader *r, const Syn *s) { read_items(r, s, 0); }
