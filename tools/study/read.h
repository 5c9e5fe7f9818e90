/* Reading a study: what its calls have in common. Errors are raised in the script, at the call. */
#ifndef TIRC_TOOLS_STUDY_READ_H
#define TIRC_TOOLS_STUDY_READ_H

#include "study.h"

/* read.c. An argument by place or by name; NULL where it is left out or None. */
const Value *study_given(const Args *a, int i, const char *name);
/* `what` names it in messages. */
const char *study_text(Script *sc, const Value *v, const char *what);
const char *study_text_or_null(Script *sc, const Args *a, int i, const char *name);
/* What stands in tables and figures. */
const char *study_name(Script *sc, const Value *v, const char *what);
bool study_is_list(const Value *v);
/* {"M": [16, 32], "K": 768} as "M=16,32" and "K=768". */
Names study_sizes(Script *sc, const Value *v);
/* The path of a file beside the study, which can be read. */
const char *study_beside(Script *sc, const Study *s, const char *name);
_Noreturn void study_raise(Script *sc, tirc_error *e);

/* plans.c */
void study_add_plan(Script *sc, Study *s, const Plan *p);
Value study_run_contender(Script *sc, Value self, const Args *a);
Value study_run_ablate(Script *sc, Value self, const Args *a);
Value study_run_tuned_tiles(Script *sc, Value self, const Args *a);

#endif
