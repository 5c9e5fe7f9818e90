/* A schedule that is driven from outside: what value.c and schedule.c share. */
#ifndef TIRC_RUNTIME_API_SCHEDULE_H
#define TIRC_RUNTIME_API_SCHEDULE_H

#include "api.h"
#include "passes/script/interp.h"

struct tirc_schedule {
  Tirc *c; /* holds this struct; shared with the schedule's copies */
  Sched *s;
  Script *sc;
  const void *family; /* the same for a schedule and its copies: whose handles are good here */
  Sources sources;
  tirc_schedule_options options;
  Loc place;
};

/* Throw "argument" for what is no value, or another schedule's handle. */
Value tirc_value_inward(tirc_schedule *x, const tirc_value *v);
Value *tirc_values_inward(tirc_schedule *x, int64_t n, const tirc_value *at);
tirc_value tirc_value_outward(tirc_schedule *x, Value v);

#endif
