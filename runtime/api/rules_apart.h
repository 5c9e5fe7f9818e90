/* Schedules by rules for the functions of a model. */
#ifndef TIRC_RUNTIME_API_RULES_APART_H
#define TIRC_RUNTIME_API_RULES_APART_H

#include "api.h"

typedef struct RulesApart {
  const Sources *sources;
  const tirc_schedule_options *options;
  const tirc_auto_options *rules; /* or NULL */
  void (*out)(void *options, const char *text);
} RulesApart;

/* The module with each function scheduled by the first rule that takes it, in context c. Throws as
 * the rules do. */
const Module *tirc_schedule_by_rules(Tirc *c, const Module *m, const RulesApart *r);

#endif
