/* The printer calls these functions at each function, loop and block, while the names of what is
 * around are live. */
#include "outline.h"

#include "print_internal.h"

struct OutlineBuilder {
  VEC(OutlineNode) nodes;
  VEC(int) open; /* nodes around the place being printed */
  size_t counted;
  int line;
};

static OutlineNode *enter(Printer *p, OutlineKind kind, const char *name) {
  struct OutlineBuilder *b = p->outline;
  for (; b->counted < p->out.n; b->counted++) b->line += p->out.at[b->counted] == '\n';
  OutlineNode node = {
      .kind = kind, .depth = b->open.n, .line = b->line + 1, .name = tirc_strdup(p->c, name)};
  vec_push(p->c, b->open, b->nodes.n);
  vec_push(p->c, b->nodes, node);
  return &b->nodes.at[b->nodes.n - 1];
}

void tirc_outline_leave(Printer *p, int n) {
  if (p->outline) p->outline->open.n -= n;
}

static const char *attrs_text(Printer *p, Attrs a) {
  Text t = {.c = p->c};
  if (a.n) tirc_printer_attrs(p, &t, a);
  return t.at;
}

static const char *expr_text(Printer *p, Expr e) {
  Text t = {.c = p->c};
  tirc_printer_expr(p, &t, e, 0);
  return t.at;
}

void tirc_outline_loop(Printer *p, const For *loop, const char *name) {
  if (!p->outline) return;
  OutlineNode *node = enter(p, OUTLINE_LOOP, name);
  node->loop_kind = tirc_loop_kind_name(loop->kind);
  node->extent = expr_text(p, loop->extent);
  node->thread = loop->thread;
  node->annotations = attrs_text(p, loop->annotations);
}

static OutlineBuffer describe_buffer(Printer *p, Buffer b) {
  Text t = {.c = p->c};
  tirc_text_addf(&t, "%s[", tirc_dtype_name(p->c, b->dtype));
  for (int d = 0; d < b->ndim; d++)
    tirc_text_addf(&t, "%s%s", d ? ", " : "", expr_text(p, b->shape[d]));
  tirc_text_add(&t, "]");
  return (OutlineBuffer){tirc_printer_name(p, b, b->name), t.at, b->scope};
}

static const OutlineBuffer *describe_buffers(Printer *p, int n, const Buffer *at) {
  OutlineBuffer *out = tirc_new_array(p->c, OutlineBuffer, n);
  for (int i = 0; i < n; i++) out[i] = describe_buffer(p, at[i]);
  return out;
}

static const OutlineBuffer *describe_regions(Printer *p, int n, const Region *at) {
  OutlineBuffer *out = tirc_new_array(p->c, OutlineBuffer, n);
  for (int i = 0; i < n; i++) {
    Text t = {.c = p->c};
    tirc_printer_region(p, &t, at[i]);
    out[i] = (OutlineBuffer){tirc_printer_name(p, at[i].buffer, at[i].buffer->name), t.at, NULL};
  }
  return out;
}

void tirc_outline_enter_block(Printer *p, const Block *b) {
  if (p->outline) enter(p, OUTLINE_BLOCK, b->name);
}

void tirc_outline_block(Printer *p, const Block *b) {
  static const char letters[] = {
      [ITER_SPATIAL] = 'S', [ITER_REDUCE] = 'R', [ITER_OPAQUE] = 'O', [ITER_SCAN] = 'C'};
  if (!p->outline) return;
  OutlineNode *node = &p->outline->nodes.at[p->outline->open.at[p->outline->open.n - 1]];
  char *iters = tirc_alloc(p->c, (size_t)b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) iters[i] = letters[b->iters[i].kind];
  node->iters = iters;
  if (!tirc_is_true(b->predicate)) node->predicate = expr_text(p, b->predicate);
  node->annotations = attrs_text(p, b->annotations);
  node->has_init = b->init != NULL;
  node->n_reads = b->n_reads;
  node->reads = describe_regions(p, b->n_reads, b->reads);
  node->n_writes = b->n_writes;
  node->writes = describe_regions(p, b->n_writes, b->writes);
  node->n_allocs = b->n_allocs;
  node->allocs = describe_buffers(p, b->n_allocs, b->allocs);
}

void tirc_outline_function(Printer *p, const Func *f) {
  if (!p->outline) return;
  OutlineNode *node = enter(p, OUTLINE_FUNCTION, f->name);
  OutlineBuffer *params = tirc_new_array(p->c, OutlineBuffer, f->n_params);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers && f->buffers[i]) params[node->n_allocs++] = describe_buffer(p, f->buffers[i]);
  node->allocs = params;
}

Outline tirc_outline(Tirc *c, const Module *m) {
  struct OutlineBuilder b = {0};
  Printer p = {.c = c, .out = {.c = c}, .outline = &b};
  tirc_printer_module(&p, m);
  return (Outline){p.out.at, b.nodes.n, b.nodes.at};
}
