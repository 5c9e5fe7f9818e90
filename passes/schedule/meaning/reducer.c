/* The operation of a block of a schedule, or an error. */
#include "meaning.h"

Reducer tirc_reducer_of(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  Reducer r;
  int unmatched;
  const char *wrong = tirc_reducer_of_block(s->c, b, &r, &unmatched);
  if (!wrong) return r;
  if (unmatched < 0)
    tirc_sched_error(
        s, block->stmt, SERR_REDUCER_FORM, NULL,
        block->scope->n_blocks ? "call rfactor before blockize puts blocks inside of it" : NULL,
        "In block %s, %s.", b->name, wrong);
  tirc_refuse(s, block->stmt, SERR_NO_MATCHED_REDUCER,
              "Block %s does not accumulate into %s with a known commutative operation, or does "
              "not start from its neutral element.",
              b->name, r.buffers[unmatched]->name);
}

void tirc_warn_of_equals(Sched *s, SRef *block) {
  Picking p;
  const Block *b = tirc_block_of(block);
  for (int i = 0; i < s->warnings.n; i++)
    if (s->warnings.at[i].code == CODE_EQUAL_CANDIDATES) return;
  if (!tirc_picks_equals(s->c, b, &p)) return;
  int picked = 0;
  while (p.compared[picked]) picked++;
  tirc_sched_warn_code(s, CODE_EQUAL_CANDIDATES,
                       "block %s picks one of several candidates: in another order it may store "
                       "that of another equal one to %s",
                       b->name, p.reducer.buffers[picked]->name);
}
