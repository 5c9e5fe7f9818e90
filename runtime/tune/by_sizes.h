/* Records by size: a program of open extents is tuned for some numbers and ranges of them, each as
 * a program of its own (tirc_module_for_sizes); one function then chooses between what was found.
 */
#ifndef TIRC_RUNTIME_TUNE_BY_SIZES_H
#define TIRC_RUNTIME_TUNE_BY_SIZES_H

#include "runtime/database/database.h"
#include "runtime/tirc/tune.h"

/* api.c: the best trial of this machine, or else of any; TIRC_NO: there is none. */
tirc_status tirc_best_record(tirc_db *db, const tirc_module *m, const char *target, int threads,
                             tirc_db_trial **best, tirc_error **error);
/* The program as a trial of it says, with a trace of plain calls. */
tirc_status tirc_replay_record(const tirc_module *m, const char *trace,
                               const tirc_schedule_options *options, tirc_module **out,
                               tirc_error **error);
/* Warns, or, where warnings are errors, fails. */
tirc_status tirc_not_tuned(const tirc_schedule_options *o, const char *message, tirc_error **error);

/* The program that chooses by the sizes that are noted in it (tirc_module_with_sizes), or else by
 * those that the database has of it, with their schedules. False: no sizes are known. */
bool tirc_tuned_by_sizes(const tirc_module *m, const char *database, int threads,
                         const tirc_auto_options *how, const tirc_schedule_options *options,
                         tirc_module **out, tirc_status *status, tirc_error **error);

#endif
