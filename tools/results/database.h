/* Where results and trials are kept, as a command line names it. */
#ifndef TIRC_TOOLS_DATABASE_H
#define TIRC_TOOLS_DATABASE_H

#include "tools/kit/kit.h"

#include "runtime/database/database.h"

/* DONE, or the exit status after the error was reported. Reading one that is missing is bad usage
 * here. */
int open_database(const char *where, tirc_db_mode mode, tirc_db **out);
/* What --target, --threads and --machine leave, and the words of argument number i, if there is
 * one: a task, or a program's name or hash. */
tirc_db_filter db_filter(const Options *o, int i);

#endif
