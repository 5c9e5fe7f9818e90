/* Schedule: whoever runs the phases says how. What a loop of the graph repeats is scheduled as a
 * function of its own. */
#include "passes.h"
#include "turns.h"

const Module *tirc_pass_schedule(Passes *p, const Module *m) {
  p->unscheduled = m;
  if (!p->options.schedule) return m;
  const Module *apart = tirc_turns_apart(p->c, m);
  const Module *to = p->options.schedule(p->options.self, p->c, apart);
  return apart == m ? to : tirc_turns_back(p->c, m, to);
}
