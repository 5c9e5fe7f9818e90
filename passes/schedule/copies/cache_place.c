/* Where the copy of a cached buffer stands.
 *
 * The copy must run after the writer and before the blocks that read it. Walking the scope in order
 * of execution until both the writer and one of its consumers were seen ends in the innermost
 * sequence that holds both; the copy goes into that sequence, right before the item with the
 * consumer, and so lands as deep as the two allow:
 *
 *   for i in range(4):
 *       for j in ...: writer
 *       <copy>
 *       for j in ...: consumer
 *
 * Without consumers the copy is the last thing that the scope does; a consumer without a writer
 * before it makes the copy the first. */
#include "copies.h"
#include "passes/schedule/state/state.h"

typedef struct Search {
  Sched *s;
  Paths paths; /* to the writer and the consumers: nothing else has to be entered */
  const CacheStage *stage;
  int n_related; /* the consumers of interest */
  SRef *const *related;
  bool saw_writer, saw_related;
  SRef *where;
  int index; /* -1: not found yet */
} Search;

static void search(Search *f, Stmt s);

static _Noreturn void no_place(Search *f, Stmt s) {
  tirc_refuse(f->s, s, SERR_CACHE_PLACEMENT,
              "There is no place for the copy of %s: its writer and a consumer are together inside "
              "of a statement that is neither a loop nor a block.",
              f->stage->source->name);
}

static void search_seq(Search *f, Stmt s) {
  bool before = f->saw_writer;
  f->saw_writer = false;
  for (int i = 0; i < s->u.seq.n && f->index < 0; i++) {
    const SeqPart *part = tirc_part(s, i);
    if (i == part->first && tirc_path_misses(&f->paths, s, part)) {
      i = tirc_part_end(s, part) - 1;
      continue;
    }
    const bool behind = f->saw_writer;
    search(f, tirc_item(s, i));
    if (!f->saw_related) continue;
    if (f->saw_writer && f->index < 0) {
      if (!behind) no_place(f, tirc_item(s, i)); /* both are in it, and nothing between them */
      f->index = i;
    }
    break;
  }
  f->saw_writer = f->saw_writer || before;
}

static void search_block(Search *f, Stmt s) {
  SRef *scope = f->stage->scope;
  if (s->u.block.id == tirc_block_of(scope)->id) {
    search(f, s->u.block.body);
    if (!f->saw_related || f->where) return;
    f->where = scope;
    if (!f->saw_writer && f->index < 0) f->index = 0;
    return;
  }
  if (f->stage->writer && s->u.block.id == tirc_block_of(f->stage->writer)->id) {
    f->saw_writer = true;
    return;
  }
  for (int i = 0; i < f->n_related; i++)
    if (s->u.block.id == tirc_block_of(f->related[i])->id) f->saw_related = true;
}

/* A sequence directly below a conditional or a let has no loop or block of its own to insert into.
 */
static void search_other(Search *f, Stmt s) {
  const bool found = f->index >= 0;
  Stmt below;
  for (int i = 0; (below = tirc_below(s, i)); i++) search(f, below);
  if (!found && f->index >= 0 && !f->where) no_place(f, s);
}

static void search(Search *f, Stmt s) {
  const bool entered = f->stage->scope->scope->loose || tirc_path_of(&f->paths, s);
  if (!entered) return;
  switch (s->kind) {
  case STMT_SEQ: search_seq(f, s); break;
  case STMT_BLOCK: search_block(f, s); break;
  case STMT_DECL: search(f, s->u.alloc.body); break;
  case STMT_FOR:
    search(f, s->u.loop.body);
    if (f->saw_writer && f->saw_related && !f->where && f->index >= 0)
      f->where = tirc_sref_find(f->s, s);
    break;
  default: search_other(f, s);
  }
}

/* The blocks that must run after the copy: for a read cache the blocks that will use it, for a
 * write cache those that go on reading the buffer. */
static int related_blocks(Sched *s, const CacheStage *stage, SRef ***out) {
  SRefs found = {0}, after = {0};
  tirc_readers_after(s, stage->scope->scope, stage->writer, &after);
  for (int i = 0; i < after.n; i++)
    if (tirc_turns_to_cache(stage, after.at[i]) != stage->is_write)
      vec_push(s->c, found, after.at[i]);
  *out = found.at;
  return found.n;
}

void tirc_place_copy(Sched *s, CacheStage *stage) {
  Search f = {.s = s, .stage = stage, .index = -1};
  SRef **related;
  f.n_related = related_blocks(s, stage, &related);
  f.related = related;
  f.paths = tirc_paths_to(s, f.n_related, related);
  if (stage->writer) tirc_add_path(s, &f.paths, stage->writer);
  if (f.n_related) search(&f, stage->scope->stmt);
  if (!f.n_related) {
    Stmt body = tirc_block_of(stage->scope)->body;
    while (body->kind == STMT_DECL) body = body->u.alloc.body;
    f.where = stage->scope;
    f.index = body->kind == STMT_SEQ ? body->u.seq.n : 1;
  }
  if (!f.where || f.index < 0) no_place(&f, stage->scope->stmt);
  stage->where = f.where;
  stage->index = f.index;
}
