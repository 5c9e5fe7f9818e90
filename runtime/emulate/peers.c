/* What threads have in common. A value that hangs on threadIdx.x // 8 alone is evaluated for one
 * thread of each eight, and the others take what it has: the loads of a tile that a block of
 * threads multiplies cost a load each row, not one a thread.
 *
 * It is sound because a statement's expressions are evaluated before it stores: two threads that
 * read one element there read the same. For races, the first and the last of those that read an
 * element are as good as all (race.c), as long as warps have no barriers of their own. */
#include "code.h"
#include "ir/tree/atomic.h"

/* --- partitions ------------------------------------------------------------------------------- */

/* The number of the partition in which each thread's set is numbered so, in the order of threads.
 */
static int find_part(Emu *e, const uint16_t *set, int n) {
  if (n == 1) return ALL_SAME;
  if (2 * n > e->threads) return OWN;
  for (int i = ALL_SAME + 1; i < e->n_parts; i++)
    if (e->n_sets[i] == n && memcmp(e->part[i], set, sizeof *set * (size_t)e->threads) == 0)
      return i;
  if (e->n_parts == OWN) return OWN;
  e->part[e->n_parts] = tirc_copy(e->t, set, e->threads);
  e->n_sets[e->n_parts] = n;
  return e->n_parts++;
}

/* Threads are in one set if they are in both. */
static int join(Emu *e, int a, int b) {
  if (a == b || b == ALL_SAME) return a;
  if (a == ALL_SAME) return b;
  if (a == OWN || b == OWN) return OWN;
  Cell *const top = e->top;
  uint16_t *const set = (uint16_t *)(void *)take(e, e->threads / 4 + 1);
  const int most = e->n_sets[a] * e->n_sets[b];
  uint16_t *const seen = (uint16_t *)(void *)tirc_new_array(e->t, uint16_t, most);
  int n = 0;
  for (int i = 0; i < most; i++) seen[i] = NOBODY;
  for (int i = 0; i < e->threads; i++) {
    uint16_t *const number = &seen[e->part[a][i] * e->n_sets[b] + e->part[b][i]];
    if (*number == NOBODY) *number = (uint16_t)n++;
    set[i] = *number;
  }
  const int part = find_part(e, set, n);
  e->top = top;
  return part;
}

/* By what the values are, which are few and hang on no more than threadIdx. */
static int part_of_values(Emu *e, const Piece *p) {
  enum { ROOM = 256, MOST_VALUES = ROOM / 2 };
  Cell *const top = e->top;
  Trap trap;
  if (TIRC_TRY(e->t, trap)) {
    const Values v = p->eval(e, p, &e->all, take(e, e->threads));
    uint16_t *const set = (uint16_t *)(void *)take(e, e->threads / 4 + 1);
    struct {
      int64_t value;
      int number;
    } known[ROOM];
    int n = 0;
    for (int i = 0; i < ROOM; i++) known[i].number = -1;
    for (int i = 0; i < e->threads && n < MOST_VALUES; i++) {
      const int64_t x = value_at(v, i).i;
      unsigned k = (unsigned)(((uint64_t)x * 0x9e3779b97f4a7c15u) >> 56);
      while (known[k].number >= 0 && known[k].value != x) k = (k + 1) % ROOM;
      if (known[k].number < 0) known[k].value = x, known[k].number = n++;
      set[i] = (uint16_t)known[k].number;
    }
    const int part = n < MOST_VALUES ? find_part(e, set, n) : OWN;
    TIRC_END(e->t, trap);
    e->top = top;
    return part;
  }
  e->told = false; /* it may fail here, in a branch that no such thread takes */
  e->thread = -1;
  e->top = top;
  return OWN;
}

/* Whether an operation gives fewer values than its operands have, of threadIdx alone. */
static bool merges_indices(const Piece *p) {
  const Op op = (Op)p->expr->op;
  if (p->n_deps <= 0 || op == OP_VAR || op == OP_ADD || op == OP_SUB || op == OP_MUL) return false;
  for (int i = 0; i < p->n_deps; i++)
    if (!p->deps[i]->is_index) return false;
  return true;
}

static int part_of_operands(Emu *e, const Piece *p) {
  if (p->window && p->window->store->place == LOCAL) return OWN;
  if (tirc_is_warp_call(p->expr) || tirc_is_atomic(p->expr)) return OWN;
  int part = ALL_SAME;
  const Piece *const own[] = {p->a, p->b, p->c};
  for (int i = 0; i < 3; i++)
    if (own[i]) part = join(e, part, own[i]->part);
  for (int i = 0; i < p->n_args; i++) part = join(e, part, p->args[i]->part);
  for (int i = 0; i < 2 && p->var; i++)
    if (p->var->from[i]) part = join(e, part, p->var->from[i]->part);
  return part;
}

void tirc_emu_find_parts(Emu *e) {
  enum { SOME = 8 };
  e->seen = tirc_new_array(e->t, uint16_t, e->threads);
  e->n_parts = ALL_SAME + 1;
  if (e->threads < SOME) return;
  for (int i = 0; i < e->pieces.n; i++) {
    Piece *const p = e->pieces.at[i];
    p->part = p->var && p->var->is_index ? part_of_values(e, p) : part_of_operands(e, p);
    if (p->part == OWN && merges_indices(p)) p->part = part_of_values(e, p);
    p->shares = p->reads && p->part != ALL_SAME && p->part != OWN;
  }
}

/* --- lists ------------------------------------------------------------------------------------ */

void tirc_emu_open_peers(Emu *e, Threads *l, Peers *peers) {
  l->part = OWN;
  l->peers = e->syncs_warps || e->costs ? NULL : peers;
  for (int i = 0; i < e->n_parts; i++) peers->of[i].n = 0;
  memset(peers->known, 0, sizeof peers->known);
  peers->of[OWN] = *l;
}

static void find_firsts(Emu *e, Peers *peers, int part) {
  const Threads *const all = &peers->of[OWN];
  Threads *const firsts = &peers->of[part];
  uint16_t *const *const room = peers->room[part];
  for (int i = 0; i < e->n_sets[part]; i++) e->seen[i] = NOBODY;
  int n = 0;
  for (int k = 0; k < all->n; k++) {
    uint16_t *const number = &e->seen[e->part[part][all->at[k]]];
    if (*number == NOBODY) room[0][ *number = (uint16_t)n++] = all->at[k];
    room[1][*number] = all->at[k];
  }
  *firsts = *all;
  firsts->n = n;
  firsts->stamp = ++e->clock;
  firsts->at = room[0];
  firsts->last = room[1];
  firsts->part = part;
}

/* Of each thread of the list, the number of its set among those that the list has of the part. */
static const uint16_t *find_sets(Emu *e, const Threads *l, int part) {
  Peers *const peers = l->peers;
  uint16_t **const set = &peers->set[l->part][part];
  if (peers->known[l->part] >> part & 1) return *set;
  if (!*set) *set = tirc_new_array(e->t, uint16_t, e->threads);
  for (int i = 0; i < 2 && !peers->room[part][i]; i++)
    peers->room[part][i] = tirc_new_array(e->t, uint16_t, e->n_sets[part]);
  if (!peers->of[part].n) find_firsts(e, peers, part);
  const Threads *const firsts = &peers->of[part];
  const uint16_t *const number = e->part[part];
  for (int i = 0; i < firsts->n; i++) e->seen[number[firsts->at[i]]] = (uint16_t)i;
  for (int k = 0; k < l->n; k++) (*set)[k] = e->seen[number[l->at[k]]];
  peers->known[l->part] |= (uint32_t)1 << part;
  return *set;
}

Values tirc_emu_share(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const uint16_t *const set = find_sets(e, l, p->part);
  const Threads *const firsts = &l->peers->of[p->part];
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
