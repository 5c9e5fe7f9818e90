/* What was measured, for the cost model, and the models: one that learns as this search goes on,
 * and one that earlier searches for the target left in the database. */
#ifndef TIRC_RUNTIME_TUNE_LESSONS_H
#define TIRC_RUNTIME_TUNE_LESSONS_H

#include "runtime/database/database.h"

#include "passes/search/estimate.h"
#include "passes/search/model.h"

typedef struct Lessons Lessons;
/* The target is a string that stays; db: where models are kept, or NULL. NULL: memory is out. */
Lessons *tirc_lessons_new(tirc_db *db, const char *target);
void tirc_lessons_free(Lessons *l);
/* A program is a number, from 0; its trials are compared with each other. */
void tirc_lessons_add(Lessons *l, int program, const float *features, double seconds);
/* With all that there is by now. */
void tirc_lessons_train(Lessons *l);
/* Whether there is a model to ask: the library is installed, and enough was measured. */
bool tirc_lessons_can_tell(const Lessons *l);
/* How slow they will be; only the order means something. False: it cannot tell. */
bool tirc_lessons_predict(const Lessons *l, int n, const float *features, float *out);
/* Trains a model with all trials of the target that the database has, for the next searches. */
void tirc_lessons_keep(const Lessons *l);

#endif
