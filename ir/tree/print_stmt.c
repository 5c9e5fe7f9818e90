/* Statements. One function a kind; a line at a time, so that marked ones can be underlined. */
#include "annotations.h"
#include "ir/utf8.h"
#include "print.h"

#include "print_internal.h"

int tirc_printer_mark(Printer *p, Stmt s) {
  for (int i = 0; p->marks && i < p->marks->n; i++)
    if (p->marks->at[i] == s) return i;
  return -1;
}

void tirc_printer_line(Printer *p, const char *text, int mark) {
  int indent = 4 * p->indent, width;
  const char *label = mark >= 0 && p->marks->labels ? p->marks->labels[mark] : NULL;
  if (label) tirc_text_addf(&p->out, "%*s# %s\n", indent, "", label);
  tirc_text_addf(&p->out, "%*s%s\n", indent, "", text);
  if (mark < 0) return;
  width = (int)tirc_utf8_columns(text, strlen(text));
  char *carets = tirc_alloc(p->c, (size_t)width + 1);
  memset(carets, '^', (size_t)width);
  tirc_text_addf(&p->out, "%*s%s\n", indent, "", carets);
}

/* A function after "T.", in the printer's dialect. */
const char *tirc_printer_word(const Printer *p, const char *function) {
  return tirc_word_in(p->dialect, WORD_FUNCTION, function);
}

static void print_body(Printer *p, Stmt body) {
  int names = tirc_names_enter(p);
  p->indent++;
  tirc_printer_stmt(p, body, true);
  p->indent--;
  tirc_names_leave(p, names);
}

/* --- loops ------------------------------------------------------------------------------------ */

const char *tirc_loop_kind_name(LoopKind k) {
  static const char *const names[] = {"serial", "parallel", "vectorized", "unroll",
                                      "thread_binding"};
  return names[k];
}

const char *tirc_iter_kind_name(IterKind k) {
  static const char *const names[] = {"spatial", "reduce", "opaque", "scan"};
  return names[k];
}

static bool is_plain(Printer *p, Stmt s) {
  return s->kind == STMT_FOR && s->u.loop.kind == LOOP_SERIAL && s->u.loop.annotations.n == 0 &&
         tirc_is_int(s->u.loop.min, 0) && s->u.loop.min->dtype.bits == s->u.loop.var->dtype.bits &&
         tirc_printer_mark(p, s) < 0;
}

/* How many loops from s on can be printed as one T.grid. */
static int grid_length(Printer *p, Stmt s) {
  int n = 0;
  PtrMap vars = {0};
  for (; is_plain(p, s) && !(n && tirc_uses_any(s->u.loop.extent, &vars)); s = s->u.loop.body) {
    tirc_map_set(p->c, &vars, s->u.loop.var, s);
    n++;
  }
  return n;
}

static void define_loop(Printer *p, Stmt s, Text *names) {
  const For *f = &s->u.loop;
  const char *name = tirc_names_define(p, f->var, f->var->u.s);
  if (names->n) tirc_text_add(names, ", ");
  tirc_text_add(names, name);
  tirc_map_set(p->c, &p->loops, f->var, s);
  tirc_outline_loop(p, f, name);
}

static void end_call(Printer *p, Text *t, Attrs annotations) {
  if (annotations.n) {
    tirc_text_add(t, ", annotations=");
    tirc_printer_attrs(p, t, annotations);
  }
  tirc_text_add(t, ")");
}

static void print_single_loop(Printer *p, Stmt s, Text *names) {
  const For *f = &s->u.loop;
  Text t = {.c = p->c};
  Text range = {.c = p->c};
  if (!tirc_is_int(f->min, 0) || f->min->dtype.bits != f->var->dtype.bits) {
    tirc_printer_expr(p, &range, f->min, 0);
    tirc_text_add(&range, ", ");
    tirc_printer_expr(p, &range, tirc_add(p->c, f->min, f->extent), 0);
  } else {
    tirc_printer_expr(p, &range, f->extent, 0);
  }
  define_loop(p, s, names);
  if (f->kind == LOOP_SERIAL && f->annotations.n == 0)
    tirc_text_addf(&t, "for %s in range(%s", names->at, range.at);
  else
    tirc_text_addf(&t, "for %s in T.%s(%s", names->at, tirc_loop_kind_name(f->kind), range.at);
  if (f->thread) tirc_text_addf(&t, ", thread=%s", tirc_printer_string(p->c, f->thread));
  end_call(p, &t, f->annotations);
  tirc_text_add(&t, ":");
  tirc_printer_line(p, t.at, tirc_printer_mark(p, s));
}

static void print_for(Printer *p, Stmt s) {
  int frame = tirc_names_enter(p);
  int n = grid_length(p, s);
  Text names = {.c = p->c};
  if (n > 1) {
    Text extents = {.c = p->c};
    Stmt inner = s;
    for (int i = 0; i < n; i++, s = s->u.loop.body) {
      if (i) tirc_text_add(&extents, ", ");
      tirc_printer_expr(p, &extents, s->u.loop.extent, 0);
    }
    for (int i = 0; i < n; i++, inner = inner->u.loop.body) define_loop(p, inner, &names);
    tirc_printer_line(p, tirc_format(p->c, "for %s in T.grid(%s):", names.at, extents.at), -1);
  } else {
    print_single_loop(p, s, &names);
    s = s->u.loop.body;
  }
  print_body(p, s);
  tirc_outline_leave(p, n > 1 ? n : 1);
  tirc_names_leave(p, frame);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool same_range(Range a, Range b) {
  return tirc_expr_same(a.min, b.min) && tirc_expr_same(a.extent, b.extent);
}

/* A spatial or reduction iterator bound to a loop with the same range. */
static bool is_remapped(Printer *p, const Block *b, int i) {
  if (b->iters[i].kind != ITER_SPATIAL && b->iters[i].kind != ITER_REDUCE) return false;
  Stmt loop = b->iter_values[i]->op == OP_VAR ? tirc_map_get(&p->loops, b->iter_values[i]) : NULL;
  return loop && tirc_map_has(&p->names, b->iter_values[i]) &&
         same_range(tirc_range(loop->u.loop.min, loop->u.loop.extent), b->iters[i].dom);
}

static void print_iter(Printer *p, const Block *b, int i, int mark) {
  const IterVar *iv = &b->iters[i];
  Text t = {.c = p->c};
  Text binding = {.c = p->c};
  tirc_printer_expr(p, &binding, b->iter_values[i], 0);
  tirc_text_addf(&t, "%s = T.axis.%s(", tirc_names_define(p, iv->var, iv->var->u.s),
                 tirc_iter_kind_name(iv->kind));
  if (tirc_is_int(iv->dom.min, 0) && iv->dom.min->dtype.bits == iv->var->dtype.bits) {
    tirc_printer_expr(p, &t, iv->dom.extent, 0);
  } else {
    tirc_text_add(&t, "(");
    tirc_printer_expr(p, &t, iv->dom.min, 0);
    tirc_text_add(&t, ", ");
    tirc_printer_expr(p, &t, tirc_add(p->c, iv->dom.min, iv->dom.extent), 0);
    tirc_text_add(&t, ")");
  }
  tirc_text_addf(&t, ", %s)", binding.at);
  tirc_printer_line(p, t.at, mark);
}

static void print_remap(Printer *p, const Block *b, int from, int to) {
  Text names = {.c = p->c}, kinds = {.c = p->c}, values = {.c = p->c};
  for (int i = from; i < to; i++) {
    if (i > from) tirc_text_add(&values, ", ");
    tirc_printer_expr(p, &values, b->iter_values[i], 0);
    tirc_text_add(&kinds, b->iters[i].kind == ITER_SPATIAL ? "S" : "R");
  }
  for (int i = from; i < to; i++) {
    if (i > from) tirc_text_add(&names, ", ");
    tirc_text_add(&names, tirc_names_define(p, b->iters[i].var, b->iters[i].var->u.s));
  }
  tirc_printer_line(
      p, tirc_format(p->c, "%s = T.axis.remap(\"%s\", [%s])", names.at, kinds.at, values.at), -1);
}

static void print_iters(Printer *p, const Block *b) {
  for (int i = 0; i < b->n_iters;) {
    int end = i;
    while (end < b->n_iters && is_remapped(p, b, end)) end++;
    if (end - i > 1) {
      print_remap(p, b, i, end);
      i = end;
    } else {
      print_iter(p, b, i++, -1);
    }
  }
}

static void print_regions(Printer *p, const char *what, int n, const Region *at) {
  Text t = {.c = p->c};
  tirc_text_addf(&t, "T.%s(", what);
  for (int i = 0; i < n; i++) {
    if (i) tirc_text_add(&t, ", ");
    tirc_printer_region(p, &t, at[i]);
  }
  tirc_text_add(&t, ")");
  tirc_printer_line(p, t.at, -1);
}

static void print_tuple(Printer *p, Text *t, int n, const Expr *at) {
  tirc_text_add(t, "(");
  for (int i = 0; i < n; i++) {
    if (i) tirc_text_add(t, ", ");
    tirc_printer_expr(p, t, at[i], 0);
  }
  tirc_text_add(t, n == 1 ? ",)" : ")");
}

/* shape, dtype and whatever differs from the defaults, as T.Buffer and its relatives take them. */
void tirc_printer_buffer_args(Printer *p, Text *t, Buffer b, bool always_dtype) {
  print_tuple(p, t, b->ndim, b->shape);
  if (always_dtype || !tirc_dtype_equal(b->dtype, DT_FLOAT32))
    tirc_text_addf(t, ", \"%s\"", tirc_dtype_name(p->c, b->dtype));
  if (b->strides) {
    tirc_text_add(t, ", strides=");
    print_tuple(p, t, b->ndim, b->strides);
  } else if (b->one_stride) {
    tirc_text_add(t, ", strides=(1,)");
  }
  if (b->elem_offset && !tirc_is_int(b->elem_offset, 0)) {
    tirc_text_add(t, ", elem_offset=");
    tirc_printer_expr(p, t, b->elem_offset, 0);
  }
  if (b->storage != STORAGE_GLOBAL)
    tirc_text_addf(t, ", scope=%s", tirc_printer_string(p->c, b->scope));
  if (b->align != 64) tirc_text_addf(t, ", align=%d", b->align);
  if (b->offset_factor > 1) tirc_text_addf(t, ", offset_factor=%d", b->offset_factor);
  if (b->n_axis_separators) {
    tirc_text_add(t, ", axis_separators=[");
    for (int i = 0; i < b->n_axis_separators; i++)
      tirc_text_addf(t, "%s%d", i ? ", " : "", b->axis_separators[i]);
    tirc_text_add(t, "]");
  }
}

/* Variables of shapes, strides and offsets that nothing has defined yet: "n = T.int32()". */
static bool define_symbol(Visitor *v, Expr e) {
  Printer *p = v->self;
  if (e->op != OP_VAR || tirc_map_has(&p->names, e) || tirc_map_has(&p->data, e)) return true;
  const char *name = tirc_names_define(p, e, e->u.s);
  tirc_printer_line(p, tirc_format(p->c, "%s = T.%s()", name, tirc_dtype_name(p->c, e->dtype)), -1);
  return true;
}

void tirc_printer_symbols(Printer *p, Buffer b) {
  Visitor v = {.expr = define_symbol, .self = p};
  for (int i = 0; i < b->ndim; i++) tirc_visit_expr(&v, b->shape[i]);
  for (int i = 0; b->strides && i < b->ndim; i++) tirc_visit_expr(&v, b->strides[i]);
  if (b->elem_offset) tirc_visit_expr(&v, b->elem_offset);
}

void tirc_printer_block_parts(Printer *p, const Block *b) {
  for (int i = 0; i < b->n_allocs; i++) {
    Text t = {.c = p->c};
    tirc_printer_symbols(p, b->allocs[i]);
    tirc_text_addf(&t, "%s = T.%s(", tirc_names_define_buffer(p, b->allocs[i]),
                   tirc_printer_word(p, "alloc_buffer"));
    tirc_printer_buffer_args(p, &t, b->allocs[i], false);
    tirc_text_add(&t, ")");
    tirc_printer_line(p, t.at, -1);
  }
  for (int i = 0; i < b->n_matches; i++) {
    Text t = {.c = p->c};
    Text source = {.c = p->c};
    tirc_printer_region(p, &source, b->matches[i].source);
    tirc_printer_symbols(p, b->matches[i].buffer);
    tirc_text_addf(&t, "%s = T.match_buffer(%s, ",
                   tirc_names_define_buffer(p, b->matches[i].buffer), source.at);
    tirc_printer_buffer_args(p, &t, b->matches[i].buffer, false);
    tirc_text_add(&t, ")");
    tirc_printer_line(p, t.at, -1);
  }
  tirc_outline_block(p, b);
  if (b->init) {
    tirc_printer_line(p, "with T.init():", -1);
    print_body(p, b->init);
  }
  tirc_printer_stmt(p, b->body, true);
}

static void print_block(Printer *p, Stmt s) {
  const Block *b = &s->u.block;
  int frame = tirc_names_enter(p);
  tirc_outline_enter_block(p, b);
  tirc_printer_line(p,
                    tirc_format(p->c, "with T.%s(%s):", tirc_printer_word(p, "block"),
                                tirc_printer_string(p->c, b->name)),
                    tirc_printer_mark(p, s));
  p->indent++;
  print_iters(p, b);
  if (!tirc_is_true(b->predicate)) {
    Text t = {.c = p->c};
    tirc_text_add(&t, "T.where(");
    tirc_printer_expr(p, &t, b->predicate, 0);
    tirc_text_add(&t, ")");
    tirc_printer_line(p, t.at, -1);
  }
  print_regions(p, "reads", b->n_reads, b->reads);
  print_regions(p, "writes", b->n_writes, b->writes);
  tirc_printer_attrs_line(p, tirc_format(p->c, "T.%s", tirc_printer_word(p, "block_attr")),
                          b->annotations);
  tirc_printer_block_parts(p, b);
  p->indent--;
  tirc_outline_leave(p, 1);
  tirc_names_leave(p, frame);
}

/* --- the other statements --------------------------------------------------------------------- */

static const char *expr_text(Printer *p, Expr e) {
  Text t = {.c = p->c};
  tirc_printer_expr(p, &t, e, 0);
  return t.at;
}

static void print_store(Printer *p, Stmt s) {
  Text t = {.c = p->c};
  Buffer b = s->u.store.buffer;
  tirc_text_add(&t, tirc_printer_name(p, b, b->name));
  tirc_printer_indices(p, &t, s->u.store.n, s->u.store.indices);
  tirc_text_add(&t, " = ");
  tirc_printer_expr(p, &t, s->u.store.value, 0);
  tirc_printer_line(p, t.at, tirc_printer_mark(p, s));
}

static void print_if(Printer *p, Stmt s) {
  tirc_printer_line(p, tirc_format(p->c, "if %s:", expr_text(p, s->u.branch.cond)),
                    tirc_printer_mark(p, s));
  print_body(p, s->u.branch.then_case);
  if (!s->u.branch.else_case) return;
  tirc_printer_line(p, "else:", -1);
  print_body(p, s->u.branch.else_case);
}

/* A statement that scopes over its body: `head` alone when the body is all that follows, so that it
 * need not be indented; otherwise `with`. */
static void print_scoped(Printer *p, Stmt s, const char *head, const char *with, Stmt body,
                         bool tail) {
  tirc_printer_line(p, tail ? head : with, tirc_printer_mark(p, s));
  if (tail)
    tirc_printer_stmt(p, body, true);
  else
    print_body(p, body);
}

static void print_let_stmt(Printer *p, Stmt s, bool tail) {
  Expr var = s->u.let.var;
  int frame = tirc_names_enter(p);
  const char *value = expr_text(p, s->u.let.value);
  const char *name = tirc_names_define(p, var, var->u.s);
  const char *type = tirc_dtype_name(p->c, var->dtype);
  const char *form = p->dialect == DIALECT_TIRX ? "%s: T.let[T.%s] = %s" : "%s: T.%s = %s";
  print_scoped(
      p, s, tirc_format(p->c, form, name, type, value),
      tirc_format(p->c, "with T.%s(%s) as %s:", tirc_printer_word(p, "LetStmt"), value, name),
      s->u.let.body, tail);
  tirc_names_leave(p, frame);
}

static Attrs without_data(Tirc *c, Attrs all) {
  Attr *kept = tirc_new_array(c, Attr, all.n + 1);
  Attrs to = {.at = kept};
  for (int i = 0; i < all.n; i++)
    if (strcmp(all.at[i].key, ALLOC_DATA) != 0) kept[to.n++] = all.at[i];
  return to;
}

/* A constant without its type, which the list has for all: T.int8(3) is 3, but T.float32("nan"). */
static const char *bare_number(Printer *p, Expr e) {
  const char *text = expr_text(p, e), *open = strchr(text, '(');
  if (!open || strchr(text, '"')) return text;
  return tirc_format(p->c, "%.*s", (int)strlen(open) - 2, open + 1);
}

/* T.allocate_const([1, 2], "int32", [2]): the elements are of the type, whatever they look like.
 */
static void print_alloc_const(Printer *p, Stmt s, Expr data, bool tail) {
  Buffer b = s->u.alloc.buffer;
  int frame = tirc_names_enter(p);
  Text t = {.c = p->c};
  tirc_text_add(&t, "T.allocate_const([");
  for (int i = 0; i < data->n; i++) {
    if (i) tirc_text_add(&t, ", ");
    tirc_text_add(&t, bare_number(p, data->args[i]));
  }
  tirc_text_addf(&t, "], \"%s\", [", tirc_dtype_name(p->c, b->dtype));
  for (int i = 0; i < b->ndim; i++)
    tirc_text_addf(&t, "%s%s", i ? ", " : "", expr_text(p, b->shape[i]));
  tirc_text_add(&t, "]");
  end_call(p, &t, without_data(p->c, s->u.alloc.annotations));
  const char *name = tirc_names_define_buffer(p, b);
  vec_push(p->c, p->live, ((Live){b->data, name})); /* data=NAME: it is the memory */
  tirc_map_set(p->c, &p->names, b->data, (void *)(uintptr_t)name);
  print_scoped(p, s, tirc_format(p->c, "%s = %s", name, t.at),
               tirc_format(p->c, "with %s as %s:", t.at, name), s->u.alloc.body, tail);
  tirc_names_leave(p, frame);
}

static void print_alloc(Printer *p, Stmt s, bool tail) {
  Buffer b = s->u.alloc.buffer;
  const Expr constants = tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA);
  if (constants) {
    print_alloc_const(p, s, constants, tail);
    return;
  }
  int frame = tirc_names_enter(p);
  Text t = {.c = p->c};
  const char *data = s->kind == STMT_DECL ? expr_text(p, b->data) : NULL;
  tirc_printer_symbols(p, b);
  const char *name = tirc_names_define_buffer(p, b);
  tirc_text_addf(&t, "T.%s(", data ? "decl_buffer" : tirc_printer_word(p, "decl_buffer"));
  tirc_printer_buffer_args(p, &t, b, false);
  if (data) tirc_text_addf(&t, ", data=%s", data);
  end_call(p, &t, s->u.alloc.annotations);
  print_scoped(p, s, tirc_format(p->c, "%s = %s", name, t.at),
               tirc_format(p->c, "with %s as %s:", t.at, name), s->u.alloc.body, tail);
  tirc_names_leave(p, frame);
}

void tirc_printer_stmt(Printer *p, Stmt s, bool tail) {
  Tirc *c = p->c;
  switch (s->kind) {
  case STMT_FOR: print_for(p, s); break;
  case STMT_BLOCK: print_block(p, s); break;
  case STMT_SEQ:
    if (s->u.seq.n == 0) tirc_printer_line(p, "pass", -1);
    for (int i = 0; i < s->u.seq.n; i++)
      tirc_printer_stmt(p, tirc_item(s, i), tail && i == s->u.seq.n - 1);
    break;
  case STMT_STORE: print_store(p, s); break;
  case STMT_EVAL: {
    const char *e = expr_text(p, s->u.eval.value);
    tirc_printer_line(p, s->u.eval.value->op == OP_CALL ? e : tirc_format(c, "T.evaluate(%s)", e),
                      tirc_printer_mark(p, s));
    break;
  }
  case STMT_IF: print_if(p, s); break;
  case STMT_WHILE:
    tirc_printer_line(p, tirc_format(c, "while %s:", expr_text(p, s->u.loop_while.cond)),
                      tirc_printer_mark(p, s));
    print_body(p, s->u.loop_while.body);
    break;
  case STMT_LET: print_let_stmt(p, s, tail); break;
  case STMT_ALLOC:
  case STMT_DECL: print_alloc(p, s, tail); break;
  case STMT_ATTR:
    tirc_printer_line(
        p,
        tirc_format(c,
                    "with T.attr(%s, %s, %s):", s->u.attr.node ? expr_text(p, s->u.attr.node) : "0",
                    tirc_printer_string(c, s->u.attr.key), expr_text(p, s->u.attr.value)),
        tirc_printer_mark(p, s));
    print_body(p, s->u.attr.body);
    break;
  case STMT_ASSERT: {
    const char *cond = expr_text(p, s->u.check.cond);
    const char *message = tirc_printer_string(c, s->u.check.message);
    print_scoped(p, s, tirc_format(c, "assert %s, %s", cond, message),
                 tirc_format(c, "with T.Assert(%s, %s):", cond, message), s->u.check.body, tail);
    break;
  }
  }
}
