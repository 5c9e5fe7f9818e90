/* Blocks by their names, so that get_block does not walk the program. A hash table of lists; blocks
 * that died or got another name leave their list when it is next looked at. */
#include "internal.h"
#include "state.h"

typedef struct NameList {
  const char *name;
  SRefs blocks;
} NameList;

struct BlockNames {
  NameList **at; /* open addressing */
  int n, cap;    /* cap is a power of two */
};

static uint32_t hash_of(const char *s) {
  uint32_t h = 2166136261u;
  for (; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
  return h;
}

static NameList **slot(const BlockNames *names, const char *name) {
  uint32_t i = hash_of(name);
  while (names->at[i & (uint32_t)(names->cap - 1)] &&
         strcmp(names->at[i & (uint32_t)(names->cap - 1)]->name, name))
    i++;
  return &names->at[i & (uint32_t)(names->cap - 1)];
}

static void grow(Tirc *c, BlockNames *names) {
  const BlockNames old = *names;
  names->cap = old.cap ? 2 * old.cap : 16;
  names->at = tirc_new_array(c, NameList *, names->cap);
  for (int i = 0; i < old.cap; i++)
    if (old.at[i]) *slot(names, old.at[i]->name) = old.at[i];
}

void tirc_name_block(Sched *s, SRef *block, bool renamed) {
  Tirc *c = s->c;
  if (!s->names) s->names = tirc_new(c, BlockNames);
  if (2 * (s->names->n + 1) > s->names->cap) grow(c, s->names);
  NameList **at = slot(s->names, tirc_block_of(block)->name);
  if (!*at) {
    *at = tirc_new(c, NameList);
    (*at)->name = tirc_block_of(block)->name;
    s->names->n++;
  }
  for (int i = 0; renamed && i < (*at)->blocks.n; i++)
    if ((*at)->blocks.at[i] == block) return;
  vec_push(c, (*at)->blocks, block);
}

void tirc_blocks_named(Sched *s, int func, const char *name, SRefs *out) {
  NameList *list = s->names ? *slot(s->names, name) : NULL;
  int kept = 0;
  for (int i = 0; list && i < list->blocks.n; i++) {
    SRef *r = list->blocks.at[i];
    if (!r->stmt || strcmp(tirc_block_of(r)->name, name)) continue;
    list->blocks.at[kept++] = r;
    if (r->func == func) vec_push(s->c, *out, r);
  }
  if (list) list->blocks.n = kept;
}
