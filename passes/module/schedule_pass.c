/* Schedule: whoever runs the phases says how. */
#include "passes.h"

const Module *tirc_pass_schedule(Passes *p, const Module *m) {
  p->unscheduled = m;
  return p->options.schedule ? p->options.schedule(p->options.self, p->c, m) : m;
}
