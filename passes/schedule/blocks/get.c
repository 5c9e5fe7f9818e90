/* Finding blocks and loops; nothing here changes the program.
 *
 *   sch.get_block("C")          block C, which must be the only one of that name in the function
 *   sch.get_loops(C)            [i, j, k] of  for i: for j: for k: block C
 *   sch.get_child_blocks(i)     the blocks below loop i that are not inside of another block
 *   sch.get_producers(C)        blocks of C's scope that write what C reads or writes, before it
 *   sch.get_consumers(C)        blocks of C's scope that read or write what C writes, after it
 *   sch.get_output_blocks(root) blocks that write a buffer which their scope does not allocate */
#include "ir/nearest.h"
#include "passes/schedule/shape/shape.h"
#include "passes/schedule/state/state.h"

static Value list_of(Sched *s, SRefs of) {
  Value list = tirc_value_list(s->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < of.n; i++) tirc_value_append(s->c, list, tirc_value_of_sref(of.at[i]));
  return list;
}

/* All blocks below a block, pre-order, its children's children included. */
static void all_blocks(Sched *s, SRef *block, SRefs *out) {
  for (int i = 0; i < block->scope->n_blocks; i++) {
    vec_push(s->c, *out, block->scope->blocks[i]);
    all_blocks(s, block->scope->blocks[i], out);
  }
}

static _Noreturn void not_found(Sched *s, const char *name, const SRefs *all, const SRefs *found) {
  if (found->n)
    tirc_sched_error(s, found->at[0]->stmt, SERR_BLOCK_NOT_FOUND, NULL,
                     "rename the blocks in the program, or reach one through get_child_blocks, "
                     "get_producers or get_consumers",
                     "%d blocks are named %s", found->n, name);
  Text t = {.c = s->c};
  tirc_text_addf(&t,
                 "Cannot find a block with the name: %s; the blocks are: ", *name ? name : "\"\"");
  for (int i = 0; i < all->n && i < 40; i++)
    tirc_text_addf(&t, "%s%s", i ? ", " : "", tirc_name_of(all->at[i]));
  if (all->n > 40) tirc_text_add(&t, ", ...");
  Nearest near = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < all->n; i++)
    tirc_offer_name(&near, tirc_name_of(all->at[i]), strlen(tirc_name_of(all->at[i])));
  const char *hint = tirc_suggest_name(&near, "", NULL);
  const char *loops = hint ? NULL : tirc_hint_of_loop(s, name);
  if (loops) hint = tirc_format(s->c, "'%s' is a loop: %s", name, loops);
  if (hint)
    tirc_sched_error(s, NULL, SERR_BLOCK_NOT_FOUND, NULL, tirc_format(s->c, "%s", hint), "%s",
                     t.at);
  tirc_refuse(s, NULL, SERR_BLOCK_NOT_FOUND, "%s", t.at);
}

void tirc_prim_get_block(Sched *s, const Value *args, Value *result) {
  const char *name = args[0].u.s;
  const int func = tirc_function_named(s, args[1].kind == VAL_STR ? args[1].u.s : s->work_on);
  SRef *root = s->roots[func];
  SRefs all = {0}, found = {0};
  tirc_blocks_named(s, func, name, &found);
  if (found.n != 1 && root) {
    vec_push(s->c, all, root);
    all_blocks(s, root, &all);
  }
  if (found.n != 1) not_found(s, name, &all, &found);
  *result = tirc_value_of_sref(found.at[0]);
}

void tirc_prim_get_loops(Sched *s, const Value *args, Value *result) {
  *result = list_of(s, tirc_loops_above(s, tirc_sref_of_value(s, args[0])));
}

void tirc_prim_get_child_blocks(Sched *s, const Value *args, Value *result) {
  *result = list_of(s, tirc_child_blocks(s, tirc_sref_of_value(s, args[0])));
}

void tirc_prim_get_producers(Sched *s, const Value *args, Value *result) {
  SRef *block = tirc_sref_of_value(s, args[0]);
  *result = list_of(s, tirc_producers(s, block, tirc_require_scope_root(s, block, false)));
}

void tirc_prim_get_consumers(Sched *s, const Value *args, Value *result) {
  SRef *block = tirc_sref_of_value(s, args[0]);
  *result = list_of(s, tirc_consumers(s, block, tirc_require_scope_root(s, block, false)));
}

void tirc_prim_get_output_blocks(Sched *s, const Value *args, Value *result) {
  SRefs all = {0}, output = {0};
  all_blocks(s, tirc_sref_of_value(s, args[0]), &all);
  for (int i = 0; i < all.n; i++)
    if (tirc_is_output_block(s, all.at[i], tirc_scope_root(all.at[i])))
      vec_push(s->c, output, all.at[i]);
  *result = list_of(s, output);
}
