/* What a message says of two iterations, looked up in the nest:
 *
 *   ...: for n = 5002: i = 0, j = 700 stores B[700, 700], which i = 700, j = 0 reads
 *
 * The sizes and loops are within their bounds, both iterations touch the element in the way that is
 * said, and the call changes their order, or lets both run at the same time. */
#include "nests.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIED = 4000000 };

typedef struct Side {
  bool given[NEST_SLOTS];
  int64_t at[NEST_SLOTS];
  bool store;
} Side;

typedef struct Witness {
  Nest *n;
  Side first, second;
  int buffer;
  int64_t element[NEST_DIMS];
  const Side *looking; /* for an access of it */
  Env env;
  int64_t tried;
  bool found;
} Witness;

static int slot_of(const Nest *n, const char *name, size_t length) {
  for (int i = 0; i < n->n_slots; i++)
    if (strlen(n->names[i]) == length && strncmp(n->names[i], name, length) == 0) return i;
  return -1;
}

/* "i = 0, j = 700": what follows; NULL: it is none of this. */
static const char *read_places(const Nest *n, const char *p, Side *side) {
  while (*p) {
    const char *name = p;
    char *end;
    while (isalnum((unsigned char)*p) || *p == '_') p++;
    const int slot = slot_of(n, name, (size_t)(p - name));
    if (slot < 0 || strncmp(p, " = ", 3) != 0) return NULL;
    side->given[slot] = true;
    side->at[slot] = strtoll(p + 3, &end, 10);
    if (end == p + 3) return NULL;
    p = end;
    if (strncmp(p, ", ", 2) != 0 && strncmp(p, ": ", 2) != 0) return p;
    p += 2;
  }
  return NULL;
}

static const char *skip(const char *p, const char *text) {
  return p && strncmp(p, text, strlen(text)) == 0 ? p + strlen(text) : NULL;
}
static const char *read_verb(const char *p, bool *store) {
  const char *reads = skip(p, " reads");
  *store = !reads;
  return reads ? reads : skip(p, " stores");
}

static const char *read_element(Witness *w, const char *p) {
  const char *open = p ? strchr(p, '[') : NULL;
  if (!open) return NULL;
  for (w->buffer = 0; w->buffer < w->n->n_buffers; w->buffer++) {
    const char *name = w->n->buffers[w->buffer].name;
    if (strlen(name) == (size_t)(open - p) && strncmp(name, p, strlen(name)) == 0) break;
  }
  if (w->buffer == w->n->n_buffers) return NULL;
  p = open + 1;
  for (int d = 0; d < w->n->buffers[w->buffer].ndim; d++) {
    char *end;
    w->element[d] = strtoll(p, &end, 10);
    if (end == p || (*end != ',' && *end != ']')) return NULL;
    p = *end == ',' ? end + 2 : end + 1;
  }
  return p;
}

/* False: it is no sentence of this kind. */
static bool read_witness(Witness *w, const char *p) {
  const char *given = skip(p, "for ");
  if (given) p = given;
  p = read_verb(read_places(w->n, p, &w->first), &w->first.store);
  p = read_element(w, skip(p, " "));
  p = skip(p, ", which ");
  if (!p) return false;
  p = read_verb(read_places(w->n, p, &w->second), &w->second.store);
  if (!p) return false;
  for (int i = 0; i < w->n->n_symbols; i++) {
    w->second.given[i] |= w->first.given[i];
    w->second.at[i] = w->first.at[i];
  }
  return true;
}

static bool is_element(Witness *w, int buffer, const Ix *const *at) {
  if (buffer != w->buffer) return false;
  for (int d = 0; d < w->n->buffers[buffer].ndim; d++)
    if (ix_eval(&w->env, at[d]) != w->element[d]) return false;
  return true;
}

static bool is_loaded(Witness *w, const Val *v) {
  if (v->op == VAL_LOAD) return is_element(w, v->buffer, v->at);
  return v->op != VAL_INT && (is_loaded(w, v->a) || is_loaded(w, v->b));
}

static void look_in_block(Witness *w, const Node *b) {
  bool first = b->init;
  w->tried++;
  if (b->where && !ix_eval(&w->env, b->where)) return;
  for (int i = 0; i < b->n_axes; i++) {
    w->env.at[b->axes[i].slot] = ix_eval(&w->env, b->axes[i].binding);
    first &= !b->axes[i].reduce || !w->env.at[b->axes[i].slot];
  }
  const bool stored = is_element(w, b->buffer, b->at);
  const bool runs = !b->guard || ix_eval(&w->env, b->guard);
  w->found |= w->looking->store ? stored && (first || runs) : runs && is_loaded(w, b->value);
}

static void look(Witness *w, const Node *node) {
  if (node->name) {
    look_in_block(w, node);
    return;
  }
  const int64_t extent = ix_eval(&w->env, node->extent);
  const bool given = w->looking->given[node->slot];
  const int64_t from = given ? w->looking->at[node->slot] : 0, to = given ? from + 1 : extent;
  if (from < 0 || to > extent) return;
  for (int64_t i = from; i < to && !w->found && w->tried < MOST_TRIED; i++)
    for (int k = 0; k < node->n && !w->found; k++) {
      w->env.at[node->slot] = i;
      look(w, node->items[k]);
    }
}

static WitnessVerdict look_for(Witness *w, const Side *side) {
  w->env = (Env){0};
  w->looking = side;
  w->found = false;
  w->tried = 0;
  for (int i = 0; i < w->n->n_symbols; i++) w->env.at[i] = side->given[i] ? side->at[i] : 1;
  for (int i = 0; i < w->n->n && !w->found; i++) look(w, w->n->items[i]);
  if (w->found) return WITNESS_TRUE;
  return w->tried < MOST_TRIED ? WITNESS_FALSE : WITNESS_OPEN;
}

/* -1, 0, 1: the first loop (in this order, of those that are told) in which they differ. */
static int before(const Witness *w, const int *order) {
  for (int i = 0; i < w->n->n_chain; i++) {
    const int slot = w->n->chain[order ? order[i] : i]->slot;
    if (!w->first.given[slot] || !w->second.given[slot]) continue;
    if (w->first.at[slot] != w->second.at[slot])
      return w->first.at[slot] < w->second.at[slot] ? -1 : 1;
  }
  return 0;
}

static const char *order_fault(const Witness *w) {
  int order[NEST_LOOPS];
  const Nest *n = w->n;
  nest_order(n, order);
  if (!w->first.store && !w->second.store) return "neither of both stores";
  if (n->call == CALL_REORDER) {
    if (before(w, NULL) != -1) return "the first is not before the second";
    return before(w, order) != 1 ? "they keep their order" : NULL;
  }
  const int slot = n->chain[n->given[0]]->slot;
  if (w->first.at[slot] == w->second.at[slot]) return "they are one iteration of the loop";
  for (int i = 0; i < n->given[0]; i++) {
    const int outer = n->chain[i]->slot;
    if (w->first.given[outer] && w->second.given[outer] &&
        w->first.at[outer] != w->second.at[outer])
      return "they are in different runs of the loop";
  }
  return NULL;
}

WitnessVerdict nest_witness(Nest *n, const char *condition, const char **why) {
  Witness w = {.n = n};
  bool is_one = false;
  const char *p = condition;
  if (!p) return WITNESS_NONE;
  for (const char *next = p; (next = strstr(next, ": ")) && !is_one;) {
    next += 2;
    w = (Witness){.n = n};
    is_one = read_witness(&w, next);
  }
  if (!is_one) return WITNESS_NONE;
  *why = NULL;
  for (int i = 0; i < n->n_symbols; i++)
    if (w.first.given[i] && w.first.at[i] < 1) *why = "a size is below 1";
  if (!*why) *why = order_fault(&w);
  if (*why) return WITNESS_FALSE;
  const WitnessVerdict first = look_for(&w, &w.first), second = look_for(&w, &w.second);
  if (first == WITNESS_FALSE || second == WITNESS_FALSE) {
    *why = first == WITNESS_FALSE ? "the first does not touch that element"
                                  : "the second does not touch that element";
    return WITNESS_FALSE;
  }
  return first == WITNESS_OPEN || second == WITNESS_OPEN ? WITNESS_OPEN : WITNESS_TRUE;
}
