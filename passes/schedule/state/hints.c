/* What a name was meant for that stands where nothing has it: a block, a loop, a buffer. */
#include "ir/nearest.h"
#include "nodes.h"
#include "state.h"

/* The first block below `block` that stands in a loop of this name, with its loops; or NULL. */
static SRef *block_in_loop(Sched *s, SRef *block, const char *name, SRefs *loops) {
  for (int i = 0; i < block->scope->n_blocks; i++) {
    SRef *const child = block->scope->blocks[i];
    *loops = tirc_loops_above(s, child);
    for (int j = 0; j < loops->n; j++)
      if (!strcmp(tirc_name_of(loops->at[j]), name)) return child;
    SRef *const below = block_in_loop(s, child, name, loops);
    if (below) return below;
  }
  return NULL;
}

const char *tirc_hint_of_loop(Sched *s, const char *name) {
  SRefs loops = {0};
  SRef *block = NULL;
  for (int i = 0; !block && i < s->mod->n_funcs; i++)
    if (s->roots[i]) block = block_in_loop(s, s->roots[i], name, &loops);
  if (!block) return NULL;
  Text t = {.c = s->c};
  for (int i = 0; i < loops.n; i++)
    tirc_text_addf(&t, "%s%s", i ? ", " : "", tirc_name_of(loops.at[i]));
  return tirc_format(s->c, "`%s%s = sch.get_loops(\"%s\")`", t.at, loops.n == 1 ? "," : "",
                     tirc_name_of(block));
}

const char *tirc_hint_of_name(Sched *s, const char *name) {
  const char *loops = tirc_hint_of_loop(s, name);
  if (loops) return tirc_format(s->c, "get the loops of a block first: %s", loops);
  for (int i = 0; i < s->mod->n_funcs; i++) {
    SRefs found = {0};
    if (s->roots[i]) tirc_blocks_named(s, i, name, &found);
    if (found.n)
      return tirc_format(s->c, "the name of a block is a string: \"%s\", or sch.get_block(\"%s\")",
                         name, name);
  }
  return NULL;
}

const char *tirc_hint_of_buffer(Sched *s, SRef *block, const char *name, bool reads, bool writes) {
  Nearest near = {.wanted = name, .n_wanted = strlen(name)};
  for (int w = 0; w < 2; w++) {
    const Regions all = tirc_declared(tirc_block_of(block), w);
    for (int i = 0; i < all.n && (w ? writes : reads); i++)
      tirc_offer_name(&near, all.at[i].buffer->name, strlen(all.at[i].buffer->name));
  }
  const char *hint = tirc_suggest_name(&near, "", NULL);
  return hint ? tirc_strdup(s->c, hint) : NULL;
}
