#include "shifted.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

void tirc_shifted_make(Tirc *c, Shifted *s, int n, const int64_t *members) {
  *s = (Shifted){.c = c, .room = 64};
  s->members = tirc_copy(c, members, n);
  s->known = tirc_new_array(c, Shared, s->room);
  qsort(s->members, (size_t)n, sizeof *s->members, compare);
  for (int i = 0; i < n; i++)
    if (!i || s->members[i] != s->members[s->n - 1]) s->members[s->n++] = s->members[i];
  s->words = (s->n + 63) / 64;
}

static Shared *place_of(Shared *known, int room, int64_t shift) {
  uint64_t at = (uint64_t)shift * 0x9E3779B97F4A7C15u >> 20;
  while (known[at & (uint64_t)(room - 1)].bits && known[at & (uint64_t)(room - 1)].shift != shift)
    at++;
  return &known[at & (uint64_t)(room - 1)];
}

static void make_room(Shifted *s) {
  Shared *more = tirc_new_array(s->c, Shared, s->room * 2);
  for (int i = 0; i < s->room; i++)
    if (s->known[i].bits) *place_of(more, s->room * 2, s->known[i].shift) = s->known[i];
  s->known = more;
  s->room *= 2;
}

static uint64_t *find_shared(const Shifted *s, int64_t shift) {
  uint64_t *bits = tirc_new_array(s->c, uint64_t, s->words);
  for (int i = 0, k = 0; i < s->n && k < s->n;) {
    const int64_t mine = s->members[i] + shift, other = s->members[k];
    if (mine == other) bits[i / 64] |= 1ull << i % 64;
    i += mine <= other;
    k += mine >= other;
  }
  return bits;
}

const uint64_t *tirc_shifted_shared(Shifted *s, int64_t shift) {
  const int64_t span = s->members[s->n - 1] - s->members[0];
  if (shift > span || shift < -span) return NULL;
  Shared *at = place_of(s->known, s->room, shift);
  if (at->bits) return at->bits;
  if (2 * ++s->n_known > s->room) {
    make_room(s);
    at = place_of(s->known, s->room, shift);
  }
  *at = (Shared){shift, find_shared(s, shift)};
  return at->bits;
}
