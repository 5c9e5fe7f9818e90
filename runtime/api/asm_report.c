/* Annotated assembly as text or JSON. What is not in the code any more - blocks, and the loops that
 * were unrolled or vectorized - is looked up in the scheduled program, by the names of the loops
 * and of the buffers that they write. */
#include "asm_report.h"

#include "ir/tree/print.h"

#include <json-c/json.h>

typedef struct json_object Json;

/* --- the scheduled program ------------------------------------------------------------------- */

typedef struct Place { /* a block that writes, with the loops around it, outermost first */
  const Block *block;
  int n;
  const For **loops;
} Place;

typedef struct Places {
  Tirc *c;
  VEC(const For *) stack;
  VEC(Place) list;
} Places;

static void walk(Places *p, Stmt s) {
  Stmt below;
  switch (s->kind) {
  case STMT_FOR:
    vec_push(p->c, p->stack, &s->u.loop);
    walk(p, s->u.loop.body);
    p->stack.n--;
    break;
  case STMT_BLOCK: {
    Place at = {&s->u.block, p->stack.n, tirc_new_array(p->c, const For *, p->stack.n)};
    for (int i = 0; i < at.n; i++) at.loops[i] = p->stack.at[i];
    if (s->u.block.n_iters > 0) vec_push(p->c, p->list, at);
    walk(p, s->u.block.body);
    break;
  }
  default:
    for (int i = 0; (below = tirc_below(s, i)); i++) walk(p, below);
  }
}

static bool has_loop(const Place *p, const char *name) {
  for (int i = 0; i < p->n; i++)
    if (strcmp(p->loops[i]->var->u.s, name) == 0) return true;
  return false;
}

static bool writes(const Block *b, const LoopMark *m) {
  for (int i = 0; i < b->n_writes; i++)
    for (int k = 0; k < m->stores.n; k++)
      if (strcmp(b->writes[i].buffer->data->u.s, m->stores.at[k]) == 0) return true;
  return false;
}

/* --- one loop -------------------------------------------------------------------------------- */

typedef struct Report {
  Tirc *c;
  const AsmCode *code;
  const Places *places;
} Report;

static const LoopMark *mark_of(const Report *r, const AsmLoop *l) {
  return l->mark ? &r->code->marks.list.at[l->mark] : NULL;
}

/* The marks from the outermost one to `number`. */
static int chain(const Report *r, int number, const LoopMark **out, int most) {
  int n = 0;
  for (int i = number; i; i = r->code->marks.list.at[i].parent) n++;
  int at = n;
  for (int i = number; i; i = r->code->marks.list.at[i].parent)
    if (--at < most) out[at] = &r->code->marks.list.at[i];
  return n < most ? n : most;
}

enum { DEEPEST = 32 };

static const char *plain_kind(const char *kind) { return strcmp(kind, "serial") == 0 ? "" : kind; }

static void add_loop(Text *t, const char *before, const char *name, const char *extent,
                     const char *kind) {
  kind = plain_kind(kind);
  tirc_text_addf(t, "%s%s %s%s%s", before, name, extent, *kind ? " " : "", kind);
}

static const char *nest_text(const Report *r, const AsmLoop *l) {
  const LoopMark *marks[DEEPEST];
  int n = chain(r, l->mark, marks, DEEPEST);
  Text t = {.c = r->c};
  for (int i = 0; i < n; i++)
    add_loop(&t, i ? " > " : "", marks[i]->name, marks[i]->extent, marks[i]->kind);
  return t.at ? t.at : "";
}

/* Calls visit for each block whose statements the loop holds itself. */
static void each_block(const Report *r, const AsmLoop *l, void (*visit)(void *, const Place *),
                       void *self) {
  const LoopMark *m = mark_of(r, l);
  for (int i = 0; m && i < r->places->list.n; i++) {
    const Place *p = &r->places->list.at[i];
    if (has_loop(p, m->name) && writes(p->block, m)) visit(self, p);
  }
}

static void add_block_text(void *self, const Place *p) {
  Text *t = self;
  tirc_text_addf(t, "%s%s", t->n ? "; " : "", p->block->name);
  int n = 0;
  for (int i = 0; i < p->n; i++)
    if (p->loops[i]->kind == LOOP_UNROLLED || p->loops[i]->kind == LOOP_VECTORIZED)
      add_loop(t, n++ ? ", " : " with ", p->loops[i]->var->u.s,
               tirc_print_expr(t->c, p->loops[i]->extent), tirc_loop_kind_name(p->loops[i]->kind));
}

static const char *blocks_text(const Report *r, const AsmLoop *l) {
  Text t = {.c = r->c};
  each_block(r, l, add_block_text, &t);
  return t.at ? t.at : "";
}

static const char *mix_text(const Report *r, const AsmLoop *l) {
  Text t = {.c = r->c};
  for (int k = 0; k < ASM_KIND_COUNT; k++)
    if (l->counts[k])
      tirc_text_addf(&t, "%s%d %s", t.n ? ", " : "", l->counts[k], tirc_asm_kind_names[k]);
  return t.at ? t.at : "";
}

static const char *size_text(const Report *r, const AsmLoop *l) {
  Text t = {.c = r->c};
  tirc_text_addf(&t, "%d instructions", l->instructions);
  if (l->bytes >= 0) tirc_text_addf(&t, ", %d bytes", l->bytes);
  if (l->vector_bits) tirc_text_addf(&t, ", vectors of %d bits", l->vector_bits);
  return t.at;
}

static const char *title(const Report *r, const AsmLoop *l) {
  const LoopMark *m = mark_of(r, l);
  if (l->depth == 0) return tirc_format(r->c, "%s, outside of loops", l->func);
  if (!m) return tirc_format(r->c, "%s: a loop that belongs to no loop of the program", l->func);
  const char *kind = plain_kind(m->kind);
  return tirc_format(r->c, "%s: loop %s, extent %s%s%s%s", l->func, m->name, m->extent,
                     *kind ? ", " : "", kind, l->innermost ? ", innermost" : "");
}

/* --- text ------------------------------------------------------------------------------------ */

static void add_header(const Report *r, Text *t, const AsmLoop *l) {
  const char *sign = r->code->comment, *nest = nest_text(r, l), *blocks = blocks_text(r, l);
  tirc_text_addf(t, "%s ---- %s\n", sign, title(r, l));
  if (*blocks) tirc_text_addf(t, "%s      block %s\n", sign, blocks);
  if (*nest) tirc_text_addf(t, "%s      nest  %s\n", sign, nest);
  tirc_text_addf(t, "%s      code  %s\n%s      mix   %s\n", sign, size_text(r, l), sign,
                 mix_text(r, l));
}

static const char *as_text(const Report *r) {
  Text t = {.c = r->c};
  bool *seen = tirc_new_array(r->c, bool, r->code->loops.n + 1);
  int last = -1;
  for (int i = 0; i < r->code->lines.n; i++) {
    const AsmLine *line = &r->code->lines.at[i];
    bool is_label = !line->is_instruction && line->loop >= 0 && *line->text != '\t';
    if (line->loop != last && line->loop >= 0 && (line->is_instruction || is_label)) {
      const AsmLoop *l = &r->code->loops.at[line->loop];
      if (!seen[line->loop])
        add_header(r, &t, l);
      else
        tirc_text_addf(&t, "%s ---- more of %s\n", r->code->comment, title(r, l));
      seen[line->loop] = true;
      last = line->loop;
    }
    tirc_text_addf(&t, "%s\n", line->text);
  }
  return t.at ? t.at : "";
}

/* --- JSON ------------------------------------------------------------------------------------ */

static Json *loop_json(const char *name, const char *extent, const char *kind) {
  Json *o = json_object_new_object();
  json_object_object_add(o, "name", json_object_new_string(name));
  json_object_object_add(o, "extent", json_object_new_string(extent));
  json_object_object_add(o, "kind", json_object_new_string(kind));
  return o;
}

typedef struct JsonList {
  Tirc *c;
  Json *list;
} JsonList;

static void add_block_json(void *self, const Place *p) {
  JsonList *l = self;
  Json *o = json_object_new_object(), *loops = json_object_new_array();
  json_object_object_add(o, "block", json_object_new_string(p->block->name));
  for (int i = 0; i < p->n; i++)
    json_object_array_add(loops, loop_json(p->loops[i]->var->u.s,
                                           tirc_print_expr(l->c, p->loops[i]->extent),
                                           tirc_loop_kind_name(p->loops[i]->kind)));
  json_object_object_add(o, "loops", loops);
  json_object_array_add(l->list, o);
}

static Json *asm_loop_json(const Report *r, const AsmLoop *l) {
  const LoopMark *marks[DEEPEST];
  int n = chain(r, l->mark, marks, DEEPEST);
  Json *o = json_object_new_object(), *nest = json_object_new_array();
  Json *mix = json_object_new_object();
  JsonList blocks = {r->c, json_object_new_array()};
  json_object_object_add(o, "function", json_object_new_string(l->func));
  json_object_object_add(o, "label", l->label ? json_object_new_string(l->label) : NULL);
  json_object_object_add(o, "depth", json_object_new_int(l->depth));
  json_object_object_add(o, "innermost", json_object_new_boolean(l->innermost));
  for (int i = 0; i < n; i++)
    json_object_array_add(nest, loop_json(marks[i]->name, marks[i]->extent, marks[i]->kind));
  json_object_object_add(o, "nest", nest);
  each_block(r, l, add_block_json, &blocks);
  json_object_object_add(o, "blocks", blocks.list);
  json_object_object_add(o, "instructions", json_object_new_int(l->instructions));
  json_object_object_add(o, "bytes", l->bytes < 0 ? NULL : json_object_new_int(l->bytes));
  json_object_object_add(o, "vector_bits", json_object_new_int(l->vector_bits));
  for (int k = 0; k < ASM_KIND_COUNT; k++)
    json_object_object_add(mix, tirc_asm_kind_names[k], json_object_new_int(l->counts[k]));
  json_object_object_add(o, "mix", mix);
  return o;
}

static const char *as_json(const Report *r) {
  Json *o = json_object_new_object(), *loops = json_object_new_array();
  json_object_object_add(o, "target", json_object_new_string(r->code->cpu->name));
  for (int i = 0; i < r->code->loops.n; i++)
    json_object_array_add(loops, asm_loop_json(r, &r->code->loops.at[i]));
  json_object_object_add(o, "loops", loops);
  const char *s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY);
  char *text = tirc_format(r->c, "%s\n", s);
  json_object_put(o);
  return text;
}

const char *tirc_asm_report(Tirc *c, const Module *scheduled, const AsmCode *code, bool json) {
  Places places = {.c = c};
  for (int i = 0; i < scheduled->n_funcs; i++) walk(&places, scheduled->funcs[i]->body);
  Report r = {c, code, &places};
  return json ? as_json(&r) : as_text(&r);
}
