/* The tiles of schedules of products, and their working sets: of a step of the innermost tiles a
 * strip of A, TM x TK, one of B, TK x TN, and a tile of C, TM x TN, in bytes and as a part of the
 * L1 cache. */
#include "study.h"

#include "nest_facts.h"

#include <stdlib.h>
#include <string.h>

/* Its axes in the order of the program: two of the result, then that of the sum. */
static bool is_product(const Facts *f) {
  return f->n_axes == 3 && !f->axes[0].reduction && !f->axes[1].reduction && f->axes[2].reduction;
}

/* What the contender's schedule comes to in the case. */
static bool facts_of(const Ground *g, Case *k, const Plan *p, const char *schedule, Facts *out) {
  const tirc_schedule_options options = {.target = g->o.target};
  tirc_module *m = NULL;
  char *program = NULL, *trace = NULL;
  bool ok = false;
  if (load_case(&g->b, k) == DONE &&
      !tirc_module_schedule_text(k->program, schedule, strlen(schedule), p->what.script, &options,
                                 &m, NULL) &&
      !tirc_module_print(k->program, &program, NULL) &&
      !tirc_module_trace(m, TIRC_TRACE_JSON, &trace, NULL))
    ok = !read_facts(program, trace, out, NULL);
  tirc_string_free(program);
  tirc_string_free(trace);
  tirc_module_free(m);
  release_samples(k);
  return ok;
}

bool same_tiles(const Tiles *a, const Tiles *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->vector_width == b->vector_width;
}

bool read_tiles(const Study *s, const Ground *g, Case *k, int plan, Tiles *out) {
  const Held *h = held(s, g, k, plan);
  Facts f = {0};
  if (!h || !h->c.schedule || h->c.code || !facts_of(g, k, &s->plans.at[plan], h->c.schedule, &f))
    return false;
  const bool ok = is_product(&f);
  if (ok)
    *out = (Tiles){.m = f.axes[0].tile,
                   .n = f.axes[1].tile,
                   .k = f.axes[2].tile,
                   .vector_width = f.vector_width};
  free_facts(&f);
  return ok;
}
