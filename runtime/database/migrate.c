/* Databases of earlier versions. */
#include "trials.h"

/* What is run when a database of version i, from 1, is opened for writing. */
static const char *const migrations[] = {
    NULL,
    DB_MARK_HOPELESS,
};

const char *tirc_db_migration(int version) {
  const int n = sizeof migrations / sizeof *migrations;
  return version > 0 && version < n ? migrations[version] : "SELECT 1";
}
