/* Functions and modules, and the doors of the printer. */
#include "print.h"
#include "annotations.h"
#include "find.h"

#include "print_internal.h"

/* Whether the buffer can be written in the parameter list: nothing of it refers to a variable. */
static bool is_simple_param(Printer *p, Buffer b) {
  for (int i = 0; i < b->ndim; i++)
    if (b->shape[i]->op != OP_INT &&
        !(b->shape[i]->op == OP_VAR && tirc_map_has(&p->names, b->shape[i])))
      return false;
  return !b->strides && !b->one_stride && (!b->elem_offset || tirc_is_int(b->elem_offset, 0)) &&
         b->align == 64 && b->offset_factor <= 1 && b->storage == STORAGE_GLOBAL &&
         !b->n_axis_separators;
}

static const char *param_text(Printer *p, const Func *f, int i) {
  Buffer b = f->buffers ? f->buffers[i] : NULL;
  Text t = {.c = p->c};
  if (b && is_simple_param(p, b)) {
    tirc_text_addf(&t, "%s: T.Buffer(", tirc_names_define_buffer(p, b));
    tirc_printer_buffer_args(p, &t, b, true);
    tirc_text_add(&t, ")");
  } else {
    tirc_text_addf(&t, "%s: T.%s", tirc_names_define(p, f->params[i], f->params[i]->u.s),
                   tirc_dtype_name(p->c, f->params[i]->dtype));
  }
  return t.at;
}

static bool has_hidden_root(const Block *b) {
  bool plain = b->n_iters == 0 && tirc_is_true(b->predicate) && b->n_reads == 0 &&
               b->n_writes == 0 && b->annotations.n == 0 && b->n_matches == 0 && !b->init &&
               strcmp(b->name, "root") == 0;
  /* A block without iterators as the whole body would be taken for the root when read again, and
   * where there is no block at all, there would be no root. */
  bool shadowed = b->n_allocs == 0 && b->body->kind == STMT_BLOCK && b->body->u.block.n_iters == 0;
  bool needed = b->n_allocs || tirc_find_stmt(b->body, tirc_is_block_stmt, NULL, NULL);
  return plain && !shadowed && needed;
}

/* Attributes that the text says in another way. */
static Attrs shown_attrs(Tirc *c, const Func *f) {
  Expr symbol = tirc_attrs_get(f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  Attrs shown = tirc_attrs_get(f->attrs, "tirc.private")
                    ? tirc_attrs_remove(c, f->attrs, "tirc.private")
                    : f->attrs;
  bool same = symbol && symbol->op == OP_STRING && strcmp(symbol->u.s, f->name) == 0;
  return same ? tirc_attrs_remove(c, shown, tirc_key(KEY_GLOBAL_SYMBOL)) : shown;
}

static Attrs with_keys_in(Printer *p, Attrs all) {
  Attr *at = tirc_new_array(p->c, Attr, all.n + 1);
  for (int i = 0; i < all.n; i++)
    at[i] = (Attr){tirc_key_in(p->c, p->dialect, all.at[i].key), all.at[i].value};
  return (Attrs){at, all.n};
}

static void print_func_body(Printer *p, const Func *f) {
  tirc_printer_attrs_line(p, "T.func_attr", with_keys_in(p, shown_attrs(p->c, f)));
  for (int i = 0; i < f->n_params; i++) {
    Buffer b = f->buffers ? f->buffers[i] : NULL;
    if (!b || tirc_map_has(&p->names, b)) continue;
    Text t = {.c = p->c};
    tirc_printer_symbols(p, b);
    tirc_text_addf(&t, "%s = T.match_buffer(%s, ", tirc_names_define_buffer(p, b),
                   tirc_printer_name(p, f->params[i], "p"));
    tirc_printer_buffer_args(p, &t, b, false);
    tirc_text_add(&t, ")");
    tirc_printer_line(p, t.at, -1);
  }
  if (f->body->kind == STMT_BLOCK && has_hidden_root(&f->body->u.block)) {
    tirc_outline_enter_block(p, &f->body->u.block);
    tirc_printer_line(p, tirc_format(p->c, "# with T.%s(\"root\"):", tirc_printer_word(p, "block")),
                      tirc_printer_mark(p, f->body));
    tirc_printer_block_parts(p, &f->body->u.block);
    tirc_outline_leave(p, 1);
  } else {
    tirc_printer_stmt(p, f->body, true);
  }
}

static void print_func(Printer *p, const Func *f) {
  static const char *const decorators[N_DIALECTS][2] = {
      {"@T.prim_func", "@T.prim_func(private=True)"},
      {"@T.prim_func(s_tir=True)", "@T.prim_func(private=True, s_tir=True)"}};
  int frame = tirc_names_enter(p);
  Text params = {.c = p->c};
  tirc_text_add(&params, "");
  /* Scalars first, so that shapes in the list may use them. */
  const char **texts = tirc_new_array(p->c, const char *, f->n_params);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < f->n_params; i++) {
      bool scalar = !(f->buffers && f->buffers[i]);
      if (scalar == (pass == 0)) texts[i] = param_text(p, f, i);
    }
  for (int i = 0; i < f->n_params; i++) tirc_text_addf(&params, "%s%s", i ? ", " : "", texts[i]);
  tirc_printer_line(p, decorators[p->dialect][tirc_attrs_get(f->attrs, "tirc.private") != NULL],
                    -1);
  tirc_outline_function(p, f);
  tirc_printer_line(p, tirc_format(p->c, "def %s(%s):", f->name, params.at), -1);
  p->indent++;
  print_func_body(p, f);
  p->indent--;
  tirc_outline_leave(p, 1);
  tirc_names_leave(p, frame);
}

void tirc_printer_module(Printer *p, const Module *m) {
  Tirc *c = p->c;
  bool as_class = m->is_class || m->n_funcs + m->n_graphs != 1 || m->attrs.n;
  p->dialect = m->dialect;
  if (as_class) tirc_printer_line(p, "# from tvm.script import ir as I", -1);
  tirc_printer_line(p,
                    tirc_format(c, "# from tvm.script import %s as T%s",
                                tirc_word_in(p->dialect, WORD_MODULE, "tir"),
                                m->n_graphs ? "" : "\n"),
                    -1);
  if (m->n_graphs) tirc_printer_line(p, "# from tvm.script import relax as R\n", -1);
  if (as_class) {
    tirc_printer_line(p, "@I.ir_module", -1);
    tirc_printer_line(p, tirc_format(c, "class %s:", m->name ? m->name : "Module"), -1);
    p->indent++;
    tirc_printer_attrs_line(p, "I.module_attrs", m->attrs);
    if (m->n_funcs + m->n_graphs == 0 && !m->attrs.n) tirc_printer_line(p, "pass", -1);
  }
  for (int i = 0; i < m->n_funcs; i++) {
    if (i) tirc_text_add(&p->out, "\n");
    print_func(p, m->funcs[i]);
  }
  for (int i = 0; i < m->n_graphs; i++) {
    if (i || m->n_funcs) tirc_text_add(&p->out, "\n");
    tirc_printer_graph(p, m->graphs[i], m->name ? m->name : "Module");
  }
}

const char *tirc_print_module(Tirc *c, const Module *m, const PrintMarks *marks) {
  Printer p = {.c = c, .out = {.c = c}, .marks = marks};
  tirc_printer_module(&p, m);
  return p.out.at;
}

const char *tirc_print_marked(Tirc *c, const MarkedModule *m) {
  if (!m) return NULL;
  if (m->text) return tirc_strdup(c, m->text); /* its own context may go away before c */
  return tirc_print_module(c, m->module, &m->marks);
}

const char *tirc_print_module_bits(Tirc *c, const Module *m) {
  Printer p = {.c = c, .out = {.c = c}, .bits = true};
  tirc_printer_module(&p, m);
  return p.out.at;
}

const char *tirc_print_func(Tirc *c, const Func *f, Dialect d) {
  Printer p = {.c = c, .out = {.c = c}, .dialect = d};
  print_func(&p, f);
  return p.out.at;
}

const char *tirc_print_stmt(Tirc *c, Stmt s, Dialect d) {
  Printer p = {.c = c, .out = {.c = c}, .dialect = d};
  tirc_printer_stmt(&p, s, true);
  return p.out.at;
}

const char *tirc_print_expr(Tirc *c, Expr e) {
  Printer p = {.c = c};
  Text t = {.c = c};
  tirc_printer_expr(&p, &t, e, 0);
  return t.at;
}

const char *tirc_print_region(Tirc *c, Region r) {
  Printer p = {.c = c};
  Text t = {.c = c};
  tirc_printer_region(&p, &t, r);
  return t.at;
}

const char *tirc_print_buffer(Tirc *c, Buffer b) {
  Printer p = {.c = c};
  Text t = {.c = c};
  tirc_text_addf(&t, "%s: %s[", b->name, tirc_dtype_name(c, b->dtype));
  for (int i = 0; i < b->ndim; i++) {
    if (i) tirc_text_add(&t, ", ");
    tirc_printer_expr(&p, &t, b->shape[i], 0);
  }
  tirc_text_add(&t, "]");
  return t.at;
}

const char *tirc_assumed_text(Tirc *c, Expr condition) {
  return tirc_format(c, "the program assumes that %s", tirc_print_expr(c, condition));
}
