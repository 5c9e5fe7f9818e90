#include "database.h"

static void tell_waiting(void *self, const char *message) {
  (void)self;
  fputs("tirc: ", stderr);
  put_name(stderr, message);
  fputc('\n', stderr);
}

int open_database(const char *where, tirc_db_mode mode, tirc_db **out) {
  tirc_error *e = NULL;
  const tirc_status status = tirc_db_open(where, mode, out, &e);
  if (status == TIRC_OK) {
    tirc_db_on_waiting(*out, -1, tell_waiting, NULL);
    return DONE;
  }
  report(e);
  return BAD;
}
