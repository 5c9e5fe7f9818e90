/* Comments that say which block a loop nest or a store comes from. Blocks are gone after lowering,
 * but loop variables and data variables live on: so the scheduled program is asked which blocks
 * stand under a loop, and which of them write a buffer. Loops that lowering made anew are found by
 * their name, if that says enough. */
#include "notes.h"

#include "ir/tree/visit.h"

typedef struct Note {
  const char *name;
  VEC(Expr) loops; /* around the block, */
  VEC(Expr) data;  /* and what it writes */
} Note;
struct BlockNotes {
  Tirc *c;
  VEC(Note *) blocks;
  VEC(Expr) open; /* loops, while collecting */
};

static void collect(BlockNotes *b, Stmt s);

static bool collect_child(Visitor *v, Stmt s) {
  if (s->kind != STMT_FOR && s->kind != STMT_BLOCK) return true;
  collect(v->self, s);
  return false;
}

static bool find_write(Visitor *v, Stmt s) {
  Note *n = ((void **)v->self)[0];
  Tirc *c = ((void **)v->self)[1];
  if (s->kind == STMT_STORE) vec_push(c, n->data, s->u.store.buffer->data);
  return true;
}

static void collect_block(BlockNotes *b, const Block *block) {
  Visitor children = {.stmt = collect_child, .self = b};
  int before = b->blocks.n;
  tirc_visit_stmt(&children, block->body);
  if (b->blocks.n > before) return; /* the blocks within say more */
  Note *n = tirc_new(b->c, Note);
  n->name = block->name;
  for (int i = 0; i < b->open.n; i++) vec_push(b->c, n->loops, b->open.at[i]);
  void *self[2] = {n, b->c};
  Visitor writes = {.stmt = find_write, .self = self};
  tirc_visit_stmt(&writes, block->body);
  vec_push(b->c, b->blocks, n);
}

static void collect(BlockNotes *b, Stmt s) {
  if (s->kind == STMT_BLOCK) {
    collect_block(b, &s->u.block);
    return;
  }
  vec_push(b->c, b->open, s->u.loop.var);
  Visitor v = {.stmt = collect_child, .self = b};
  tirc_visit_stmt(&v, s->u.loop.body);
  b->open.n--;
}

BlockNotes *tirc_notes(Tirc *c, const Func *scheduled) {
  BlockNotes *b = tirc_new(c, BlockNotes);
  b->c = c;
  if (scheduled) tirc_notes_add(b, scheduled);
  return b;
}

void tirc_notes_add(BlockNotes *b, const Func *scheduled) {
  tirc_visit_stmt(&(Visitor){.stmt = collect_child, .self = b}, scheduled->body);
}

/* --- asking --------------------------------------------------------------------------------- */

static bool stands_under(const Note *n, Expr var, bool by_name) {
  for (int i = 0; i < n->loops.n; i++)
    if (n->loops.at[i] == var || (by_name && strcmp(n->loops.at[i]->u.s, var->u.s) == 0))
      return true;
  return false;
}

static const char *list(Tirc *c, const Note *const *at, int n) {
  Text t = {.c = c};
  tirc_text_add(&t, n > 1 ? "blocks " : "block ");
  for (int i = 0; i < n; i++)
    tirc_text_addf(&t, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", at[i]->name);
  for (char *p = t.at; *p; p++) /* no comment may end early */
    if (p[0] == '*' && p[1] == '/') *p = ' ';
  return t.at;
}

/* The note when it says something new. */
static const char *say(const char **last, const char *note) {
  if (!note || (*last && strcmp(note, *last) == 0)) return NULL;
  return *last = note;
}

const char *tirc_note_loop(const BlockNotes *b, Expr var, const char **last) {
  VEC(const Note *) under = {0};
  for (int by_name = 0; by_name < 2 && under.n == 0; by_name++)
    for (int i = 0; i < b->blocks.n; i++)
      if (stands_under(b->blocks.at[i], var, by_name)) vec_push(b->c, under, b->blocks.at[i]);
  return under.n ? say(last, list(b->c, under.at, under.n)) : NULL;
}

const char *tirc_note_store(const BlockNotes *b, Buffer buffer, const char **last) {
  const Note *writer = NULL;
  for (int i = 0; i < b->blocks.n; i++)
    for (int k = 0; k < b->blocks.at[i]->data.n; k++)
      if (b->blocks.at[i]->data.at[k] == buffer->data) {
        if (writer && writer != b->blocks.at[i]) return NULL;
        writer = b->blocks.at[i];
      }
  return writer ? say(last, list(b->c, &writer, 1)) : NULL;
}
