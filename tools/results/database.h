/* Where results and trials are kept, as a command line names it. */
#ifndef TIRC_TOOLS_DATABASE_H
#define TIRC_TOOLS_DATABASE_H

#include "tools/kit/json.h"

#include "runtime/database/database.h"

/* DONE, or the exit status after the error was reported. Reading one that is missing is bad usage
 * here. */
int open_database(const char *where, tirc_db_mode mode, tirc_db **out);
/* What it was measured under, by the names of the columns in schema.sql. */
void add_conditions(Json *j, const tirc_db_conditions *c);

/* Where the options of the commands begin that look into a database. */
typedef struct Asked {
  List args;
  const char *database, *output;
  tirc_db_filter only; /* what --target, --for-threads and --machine leave */
  bool csv, as_json;
} Asked;

#endif
