/* The parts of `tirc db`. */
#ifndef TIRC_TOOLS_DB_H
#define TIRC_TOOLS_DB_H

#include "tools/kit/table.h"
#include "tools/results/database.h"

typedef struct DbOptions {
  Asked asked;
  Loading from; /* only -D */
  const char *view;
  int64_t limit, keep;
} DbOptions;

typedef struct LearnOptions {
  Asked asked;
  const char *predict;
  int64_t limit;
} LearnOptions;

typedef struct Tasks { /* copies that stay */
  int n;
  tirc_db_task *at;
} Tasks;
/* argument i: a task's id, a program's hash, id or name, or a file with a program. */
int read_tasks(const DbOptions *o, tirc_db *db, int i, Tasks *out);

/* db_show.c, db_import.c, db_export.c, db_explain.c */
int db_list(const DbOptions *o, tirc_db *db);
int db_show(const DbOptions *o, tirc_db *db);
int db_best(const DbOptions *o, tirc_db *db);
int db_import(const DbOptions *o, tirc_db *db);
int db_export(const DbOptions *o, tirc_db *db);
int db_explain(const DbOptions *o, tirc_db *db);

/* One trial as a tuning record of the reference: [workload, [trace, seconds, target, arguments]];
 * NULL: memory is out. */
struct json_object *tuning_record(int workload, const tirc_db_task *task, const tirc_module *m,
                                  const tirc_db_trial *t);

#endif
