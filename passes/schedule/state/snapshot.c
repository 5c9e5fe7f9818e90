/* Going back to what a schedule was before several calls. */
#include "nodes.h"
#include "passes/record/trace.h"

static PtrMap copy_of(Tirc *c, const PtrMap *map) {
  PtrMap copy = {0};
  for (size_t i = 0; i < map->cap; i++)
    if (map->values[i]) tirc_map_set(c, &copy, map->keys[i], map->values[i]);
  return copy;
}

KeptSched tirc_sched_keep(Sched *s) {
  const KeptSched kept = {*s, tirc_trace_mark(s->trace)};
  s->removed = copy_of(s->c, &kept.was.removed);
  return kept;
}

void tirc_sched_return_to(Sched *s, const KeptSched *to) {
  const Sched *kept = &to->was;
  const size_t limit = s->c->max_bytes;
  s->c->max_bytes = 0; /* or running out of memory could leave it half changed */
  if (s->mod != kept->mod) tirc_sched_restore(s, kept->mod);
  tirc_trace_undo(s->c, kept->trace, to->mark);
  s->c->max_bytes = limit;
  s->trace = kept->trace;
  s->removed = kept->removed;
  s->set_marks = kept->set_marks;
  s->work_on = kept->work_on;
  s->intrins = kept->intrins;
  s->rand_state = kept->rand_state;
  s->decision = kept->decision;
  s->n_drawn = kept->n_drawn;
  s->debug_mask = kept->debug_mask;
  s->warn = kept->warn;
  s->warn_self = kept->warn_self;
  s->rule = kept->rule;
  s->reason = kept->reason;
}
