#include "driver.h"

tirc_status tirc_postgres_open(const char *url, tirc_db_mode mode, DbConn **out,
                               tirc_error **error) {
  (void)url;
  (void)mode;
  (void)out;
  return tirc_db_error(error, TIRC_BAD, NULL, "databases on servers are not supported yet");
}
