/* What many threads have in common. A value that hangs on threadIdx.y alone is evaluated for one
 * thread of each threadIdx.y, and the others of it take what it has. So the loads of a tile that a
 * block of threads multiplies cost a load each row, not one a thread.
 *
 * It is sound because a statement's expressions are evaluated before it stores: two threads that
 * read one element there read the same. For races, the first and the last of those that read an
 * element are as good as all (race.c), as long as warps have no barriers of their own. */
#include "code.h"

void tirc_emu_set_peers(Emu *e) {
  for (int axes = 0; axes < SETS; axes++) {
    e->key[axes] = tirc_new_array(e->t, uint16_t, e->threads);
    int64_t step = 1, n = 1;
    for (int d = 0; d < 3; d++) {
      for (int i = 0; axes >> d & 1 && i < e->threads; i++)
        e->key[axes][i] = (uint16_t)(e->key[axes][i] + i / step % e->block[d] * n);
      if (axes >> d & 1) n *= e->block[d];
      step *= e->block[d];
    }
    e->n_keys[axes] = (int)n;
  }
  e->seen = tirc_new_array(e->t, uint16_t, e->threads);
}

void tirc_emu_open_peers(Emu *e, Threads *l, Peers *peers) {
  l->axes = 0;
  for (int d = 0; d < 3; d++) l->axes |= (e->block[d] > 1) << d;
  l->peers = e->syncs_warps ? NULL : peers;
  peers->all_axes = l->axes;
  for (int axes = 0; axes < SETS; axes++) peers->of[axes].n = 0;
  memset(peers->known, 0, sizeof peers->known);
  peers->of[l->axes] = *l;
}

/* Numbers the sets of those in the whole list that agree in these axes, in their order. */
static void find_firsts(Emu *e, Peers *peers, const Threads *all, int axes) {
  Threads *const firsts = &peers->of[axes];
  const int n_keys = e->n_keys[axes];
  uint16_t *const *const room = peers->room[axes];
  for (int i = 0; i < n_keys; i++) e->seen[i] = NOBODY;
  int n = 0;
  for (int k = 0; k < all->n; k++) {
    uint16_t *const number = &e->seen[e->key[axes][all->at[k]]];
    if (*number == NOBODY) room[0][ *number = (uint16_t)n++] = all->at[k];
    room[1][*number] = all->at[k];
  }
  *firsts = *all;
  firsts->n = n;
  firsts->stamp = ++e->clock;
  firsts->at = room[0];
  firsts->last = room[1];
  firsts->axes = axes;
}

/* Of each thread of the list, the number of its set. */
static const uint16_t *find_sets(Emu *e, const Threads *l, int axes) {
  Peers *const peers = l->peers;
  uint16_t **const set = &peers->set[l->axes][axes];
  if (peers->known[l->axes] >> axes & 1) return *set;
  if (!*set) *set = tirc_new_array(e->t, uint16_t, e->threads);
  for (int i = 0; i < 2 && !peers->room[axes][i]; i++)
    peers->room[axes][i] = tirc_new_array(e->t, uint16_t, e->n_keys[axes]);
  if (!peers->of[axes].n) find_firsts(e, peers, &peers->of[peers->all_axes], axes);
  const Threads *const firsts = &peers->of[axes];
  const uint16_t *const key = e->key[axes];
  for (int i = 0; i < firsts->n; i++) e->seen[key[firsts->at[i]]] = (uint16_t)i;
  for (int k = 0; k < l->n; k++) (*set)[k] = e->seen[key[l->at[k]]];
  peers->known[l->axes] |= (uint8_t)(1 << axes);
  return *set;
}

Values tirc_emu_share(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const uint16_t *const set = find_sets(e, l, p->axes);
  const Threads *const firsts = &l->peers->of[p->axes];
  if (e->any_poison || 2 * firsts->n > l->n) return evaluate_each(e, p, l, room);
  Cell *const top = e->top;
  const Values v = evaluate_each(e, p, firsts, take(e, firsts->n));
  e->top = top;
  if (e->any_poison) { /* which is noted by thread */
    memset(e->poisoned, 0, (size_t)e->threads);
    e->any_poison = false;
    return evaluate_each(e, p, l, room);
  }
  if (v.same) {
    room[0] = v.at[0];
  } else {
    for (int k = 0; k < l->n; k++) room[k] = v.at[set[k]];
  }
  return (Values){room, v.same};
}
