/* The same questions about nests with constant bounds, answered by running through all of their
 * instances, on index arithmetic alone. Never through a part of them: where there are too many, or
 * a number is not known, nothing is proved. */
#ifndef TIRC_SCHEDULE_MEANING_FINITE_H
#define TIRC_SCHEDULE_MEANING_FINITE_H

#include "carried.h"
#include "order.h"

/* As tirc_keeps_order. False also where it cannot be found out. */
bool tirc_finite_order(const Nest *nest, const Extract *x, Loss *loss);
/* As tirc_iterations_meet, with what each of its touches is made of. True also where it cannot be
 * found out; then `meet` stays as it is. */
bool tirc_finite_meet(const Iterations *of, const Made *made, int n, const Watched *watched,
                      Meet *meet);
/* Whether what x surely stores is all of the box. Where an element is certain not to be, *missing
 * names it. */
bool tirc_finite_cover(Sched *s, const Extract *x, const Touch *box, const char **missing);

#endif
