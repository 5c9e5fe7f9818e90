/* What the files of the database share beyond running SQL. */
#ifndef TIRC_RUNTIME_DATABASE_TRIALS_H
#define TIRC_RUNTIME_DATABASE_TRIALS_H

#include "driver.h"

/* Version 1 kept the one call of what was hopeless as if it were a time; so do rows that are merged
 * from there. */
#define DB_MARK_HOPELESS                                                                           \
  "UPDATE trial SET code = '" TIRC_HOPELESS                                                        \
  "', seconds = NULL, message = 'one call was far slower than the best'"                           \
  " WHERE state = 'done' AND code IS NULL AND source = 'tune' AND samples NOT LIKE '%,%'"

/* tasks.c: the ids of the programs that are structurally equal to m, one a row. */
tirc_status tirc_db_same_workloads(tirc_db *db, const tirc_module *m, DbRows *ids,
                                   tirc_error **error);
tirc_status tirc_db_put_workload(tirc_db *db, const tirc_module *m, const char *name, DbId *id,
                                 tirc_error **error);
tirc_status tirc_db_put_machine(tirc_db *db, const tirc_db_described *m, DbId *id,
                                tirc_error **error);

/* trials.c: samples as JSON, on the heap (NULL: there are none), and back. */
char *tirc_db_samples_text(int n, const double *samples);
double *tirc_db_samples(const char *text, int *n);
double tirc_db_median(int n, const double *samples); /* NaN: of none */
DbValue tirc_db_known(double r);                     /* 0 is NULL */
DbValue tirc_db_load(const tirc_db_conditions *c);

#endif
