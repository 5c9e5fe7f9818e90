/* What --vs names. */
#include "rivals.h"

#include <string.h>

static const Rival rivals[] = {
#define RIVAL(name, install, prefix, is_named, finish, note)                                       \
  {name,     install, prefix##_open, prefix##_prepare, prefix##_run, prefix##_free,                \
   is_named, finish,  note},
    RIVALS(RIVAL)
#undef RIVAL
};
enum { N_RIVALS = sizeof rivals / sizeof *rivals };

const Rival *find_rival(const char *name, size_t length) {
  for (int i = 0; i < N_RIVALS; i++)
    if (strlen(rivals[i].name) == length && strncmp(rivals[i].name, name, length) == 0)
      return &rivals[i];
  return NULL;
}

static bool is_right(const Case *k, const Rival *r, void *prepared) {
  tirc_check c = {.ok = false};
  poison_results(k, k->args);
  r->run(prepared);
  if (r->finish) r->finish(prepared);
  return compare_results(k->reference, k->n_params, k->args, &c) == DONE && c.ok;
}

/* What a program says of itself counts. A recognised matrix product is the only candidate
 * otherwise; a wrong result is then the rival's fault, which is said by whoever checks it. */
void *prepare_rival(const Bench *b, const Case *k, const Rival *r, const char **why) {
  Operator ops[MOST_OPERATORS];
  if (r->is_named && r->is_named(k)) return r->prepare(b, k, NULL, why);
  int n = list_operators(k, ops);
  *why = "the program is not one of its operators";
  for (int i = 0; i < n; i++) {
    const char *unused = NULL;
    void *prepared = r->prepare(b, k, &ops[i], k->cost.m ? why : &unused);
    if (prepared && (k->cost.m || is_right(k, r, prepared))) return prepared;
    if (prepared) r->free(prepared);
  }
  return k->cost.m ? NULL : r->prepare(b, k, NULL, why);
}
