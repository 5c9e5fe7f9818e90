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

void add_conditions(Json *j, const tirc_db_conditions *c) {
  add_known(j, "clock_low_ghz", c->clock_low);
  add_known(j, "clock_high_ghz", c->clock_high);
  add_number(j, "load", c->load);
  add_text(j, "pages", c->pages);
  add_text(j, "environment", c->environment);
  add_text(j, "command", c->command);
  add_int(j, "seed", c->seed);
}
