/* Schedules by rules for the functions of a model. */
#ifndef TIRC_RUNTIME_API_RULES_APART_H
#define TIRC_RUNTIME_API_RULES_APART_H

#include "api.h"

/* How many functions of a model share a context while code is made of them, and while rules
 * schedule them: each context has its own library of rules, which takes a part of the time of one
 * function to read, and rules leave some 8 MB behind for each function. */
enum { FUNCS_TOGETHER = 8, RULED_TOGETHER = 4 };
/* A module of n of the functions of m, or as many as there are from `first` on, without its graphs.
 */
const Module *tirc_module_of_some(Tirc *c, const Module *m, int first, int n);

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
