/* Blocks by their names, so that get_block does not walk the program. A table of lists; blocks
 * that died or got another name leave their list when it is next looked at. */
#include "nodes.h"
#include "state.h"

typedef struct NameList {
  SRefs blocks;
} NameList;

void tirc_name_block(Sched *s, SRef *block, bool renamed) {
  void **at = tirc_strmap_at(s->c, &s->names, tirc_block_of(block)->name);
  NameList *list = *at;
  if (!list) *at = list = tirc_new(s->c, NameList);
  for (int i = 0; renamed && i < list->blocks.n; i++)
    if (list->blocks.at[i] == block) return;
  vec_push(s->c, list->blocks, block);
}

void tirc_blocks_named(Sched *s, int func, const char *name, SRefs *out) {
  NameList *list = tirc_strmap_get(&s->names, name);
  int kept = 0;
  for (int i = 0; list && i < list->blocks.n; i++) {
    SRef *r = list->blocks.at[i];
    if (!r->stmt || strcmp(tirc_block_of(r)->name, name)) continue;
    list->blocks.at[kept++] = r;
    if (r->func == func) vec_push(s->c, *out, r);
  }
  if (list) list->blocks.n = kept;
}
