/* Opening, transactions, and running SQL whatever is behind. */
#define _GNU_SOURCE
#include "driver.h"
#include "ir/number.h"
#include "ir/user_file.h"

#include "runtime/api/api.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- errors, values, rows --------------------------------------------------------------------- */

tirc_status tirc_db_error(tirc_error **error, tirc_status status, const char *hint,
                          const char *format, ...) {
  char message[2000];
  va_list args;
  va_start(args, format);
  tirc_vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (error) {
    const Diag d = {.status = (int)status, .code = CODE_DATABASE, .message = message, .hint = hint};
    *error = tirc_api_error(&d, NULL);
  }
  return status;
}

DbValue db_real(double r) { return isnan(r) ? (DbValue){0} : (DbValue){.kind = DB_REAL, .r = r}; }

char *tirc_db_keep(const char *s) { return s ? strdup(s) : NULL; }

tirc_status tirc_db_patience(double otherwise, double *out, tirc_error **error) {
  enum { MOST = 1000000 };
  const char *set = getenv("TIRC_DATABASE_WAIT");
  char *end = NULL;
  *out = otherwise;
  if (!set || !*set) return TIRC_OK;
  const double seconds = tirc_parse_double(set, &end);
  if (strspn(set, "0123456789.eE+-") != strlen(set) || *end || !(seconds >= 0 && seconds <= MOST) ||
      *set == '-')
    return tirc_db_error(
        error, TIRC_BAD, "unset it for the usual time",
        "TIRC_DATABASE_WAIT is '%.200s', which is not a number of seconds from 0 to %d", set, MOST);
  *out = seconds;
  return TIRC_OK;
}

double tirc_db_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tirc_db_rows_free(DbRows *rows) {
  for (int i = 0; i < rows->room; i++)
    if (rows->cells[i].kind == DB_TEXT || rows->cells[i].kind == DB_BYTES)
      free((char *)rows->cells[i].s);
  free(rows->cells);
  *rows = (DbRows){0};
}

bool tirc_db_rows_add(DbRows *rows, DbValue cell) {
  /* `room` counts the cells that are filled; the array grows at the powers of two. */
  if ((rows->room & (rows->room - 1)) == 0) {
    const size_t next = rows->room ? 2 * (size_t)rows->room : 1;
    DbValue *grown = realloc(rows->cells, next * sizeof *grown);
    if (!grown) return false;
    rows->cells = grown;
  }
  if (cell.kind == DB_TEXT) cell.n = strlen(cell.s);
  if (cell.kind == DB_TEXT || cell.kind == DB_BYTES) {
    char *copy = malloc(cell.n + 1);
    if (!copy) return false;
    if (cell.n) memcpy(copy, cell.s, cell.n);
    copy[cell.n] = 0;
    cell.s = copy;
  }
  rows->cells[rows->room++] = cell;
  return true;
}

static const DbValue *cell_at(const DbRows *rows, int row, int column) {
  return &rows->cells[row * rows->columns + column];
}

const char *db_cell_text(const DbRows *rows, int row, int column) {
  const DbValue *v = cell_at(rows, row, column);
  return v->kind == DB_TEXT || v->kind == DB_BYTES ? v->s : NULL;
}

int64_t db_cell_int(const DbRows *rows, int row, int column) {
  const DbValue *v = cell_at(rows, row, column);
  return v->kind == DB_INT    ? v->i
         : v->kind == DB_REAL ? (int64_t)v->r
         : v->kind == DB_TEXT ? strtoll(v->s, NULL, 10)
                              : 0;
}

double db_cell_real(const DbRows *rows, int row, int column) {
  const DbValue *v = cell_at(rows, row, column);
  return v->kind == DB_REAL   ? v->r
         : v->kind == DB_INT  ? (double)v->i
         : v->kind == DB_TEXT ? tirc_parse_double(v->s, NULL)
                              : (double)NAN;
}

/* --- running ---------------------------------------------------------------------------------- */

/* The SQL with the driver's words in it, on the heap. */
static char *worded(const DbDriver *d, const char *sql) {
  const struct {
    const char *name, *text;
  } words[] = {{"$now", d->now}, {"$skip_locked", d->skip_locked}, {"$lock_row", d->lock_row}};
  char *out = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&out, &n);
  if (!f) return NULL;
  while (*sql) {
    size_t skip = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && !skip; i++)
      if (strncmp(sql, words[i].name, strlen(words[i].name)) == 0) {
        fputs(words[i].text, f);
        skip = strlen(words[i].name);
      }
    if (!skip) fputc(*sql, f);
    sql += skip ? skip : 1;
  }
  return fclose(f) == 0 ? out : NULL;
}

static void pause_for(double seconds) {
  const struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
  nanosleep(&t, NULL);
}

static void tell(const tirc_db *db, const char *message) {
  if (db->tell) db->tell(db->self, message);
}

void tirc_db_on_waiting(tirc_db *db, double seconds,
                        void (*listener)(void *self, const char *message), void *self) {
  if (!db) return;
  if (seconds >= 0) db->patience = seconds;
  db->tell = listener;
  db->self = self;
}

/* Tries again and again, more seldom with time, and not all clients at the same moments. */
static bool reconnect(tirc_db *db, tirc_error **error) {
  const double begun = tirc_db_clock();
  double pause = 0.05 + 0.001 * (double)(getpid() % 50);
  bool told = false;
  for (;;) {
    tirc_error *why = NULL;
    const DbOutcome outcome = db->conn->driver->reconnect(db->conn, &why);
    if (outcome == DB_OK) {
      if (told) tell(db, "the database is available again");
      return true;
    }
    if (outcome == DB_FAILED || tirc_db_clock() + pause > begun + db->patience) {
      *error = why;
      return false;
    }
    if (!told) tell(db, why ? tirc_error_message(why) : "waiting for the database");
    told = true;
    tirc_error_free(why);
    pause_for(pause);
    if (pause < 2) pause *= 1.5;
  }
}

static tirc_status run_patiently(tirc_db *db, const char *sql, int n, const DbValue *params,
                                 DbRows *rows, int64_t *changed, tirc_error **error) {
  const DbDriver *driver = db->conn->driver;
  for (;;) {
    tirc_error *why = NULL;
    DbOutcome outcome = driver->run(db->conn, sql, n, params, rows, changed, &why);
    if (outcome == DB_LOST && !db->in_transaction) {
      tirc_error_free(why);
      if (rows) tirc_db_rows_free(rows);
      why = NULL;
      if (reconnect(db, &why)) continue;
    }
    if (outcome == DB_LOST) db->lost = true;
    if (outcome == DB_OK) return TIRC_OK;
    if (error)
      *error = why;
    else
      tirc_error_free(why);
    return TIRC_BAD;
  }
}

tirc_status tirc_db_run(tirc_db *db, const char *sql, int n, const DbValue *params, DbRows *rows,
                        int64_t *changed, tirc_error **error) {
  char *text = worded(db->conn->driver, sql);
  if (!text) return tirc_api_no_memory(error);
  const tirc_status status = run_patiently(db, text, n, params, rows, changed, error);
  free(text);
  return status;
}

static tirc_status begin(tirc_db *db, const char *sql, tirc_error **error) {
  if (db->in_transaction)
    return tirc_db_error(error, TIRC_BAD, NULL, "tirc_db_begin: a transaction is open");
  const tirc_status status = tirc_db_run(db, sql, 0, NULL, NULL, NULL, error);
  db->in_transaction = status == TIRC_OK;
  db->lost = false;
  return status;
}

tirc_status tirc_db_begin(tirc_db *db, tirc_error **error) {
  NEED(db);
  return begin(db, db->conn->driver->begin, error);
}

tirc_status tirc_db_commit(tirc_db *db, tirc_error **error) {
  NEED(db);
  if (!db->in_transaction)
    return tirc_db_error(error, TIRC_BAD, NULL, "tirc_db_commit: no transaction is open");
  const tirc_status status = tirc_db_run(db, "COMMIT", 0, NULL, NULL, NULL, error);
  if (status == TIRC_OK)
    db->in_transaction = false;
  else
    tirc_db_rollback(db);
  return status;
}

void tirc_db_rollback(tirc_db *db) {
  if (!db || !db->in_transaction) return;
  tirc_error *ignored = NULL; /* it may have been rolled back already, and to say so is no news */
  DbRows none = {0};
  (void)db->conn->driver->run(db->conn, "ROLLBACK", 0, NULL, &none, NULL, &ignored);
  tirc_db_rows_free(&none);
  tirc_error_free(ignored);
  db->in_transaction = false;
}

typedef tirc_status (*Body)(tirc_db *db, void *self, tirc_error **error);

static tirc_status transact(tirc_db *db, const char *sql, Body body, void *self,
                            tirc_error **error) {
  if (db->in_transaction) return body(db, self, error);
  for (;;) {
    tirc_error *why = NULL;
    tirc_status status = begin(db, sql, &why);
    if (status == TIRC_OK) {
      status = body(db, self, &why);
      if (status == TIRC_BAD)
        tirc_db_rollback(db);
      else {
        tirc_error *commit = NULL;
        if (tirc_db_commit(db, &commit) != TIRC_OK) {
          tirc_error_free(why);
          why = commit;
          status = TIRC_BAD;
        }
      }
      if (status == TIRC_BAD && db->lost) {
        tirc_error_free(why);
        why = NULL;
        if (reconnect(db, &why)) continue;
      }
    }
    if (error)
      *error = why;
    else
      tirc_error_free(why);
    return status;
  }
}

tirc_status tirc_db_transact(tirc_db *db, Body body, void *self, tirc_error **error) {
  return transact(db, db->conn->driver->begin, body, self, error);
}

tirc_status tirc_db_read_at_once(tirc_db *db, Body body, void *self, tirc_error **error) {
  return transact(db, db->conn->driver->snapshot, body, self, error);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* On the heap. */
static char *default_path(void) {
  const char *set = getenv("TIRC_DATABASE");
  char path[USER_FILE];
  if (set && *set) return strdup(set);
  return strdup(*tirc_user_file(path, "tirc.db") ? path : "tirc.db");
}

static bool is_url(const char *where) {
  return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

/* The URL without what stands between the user's name and the @. On the heap. */
static char *without_password(const char *url) {
  char *copy = strdup(url);
  char *from = copy ? strstr(copy, "://") + 3 : NULL;
  char *end = from ? from + strcspn(from, "/?") : NULL, *at = NULL;
  for (char *p = from; p && p < end; p++)
    if (*p == '@') at = p;
  char *colon = at ? memchr(from, ':', (size_t)(at - from)) : NULL;
  if (colon) memmove(colon, at, strlen(at) + 1);
  char *word = copy ? strstr(copy, "password=") : NULL;
  if (word) word[strlen("password=")] = 0; /* the last that is shown */
  return copy;
}

tirc_status tirc_db_open(const char *where, tirc_db_mode mode, tirc_db **out, tirc_error **error) {
  NEED(out);
  char *path = where && *where ? strdup(where) : default_path();
  tirc_db *db = calloc(1, sizeof *db);
  if (path && db) db->name = is_url(path) ? without_password(path) : strdup(path);
  tirc_status status = TIRC_BAD;
  if (db && tirc_db_patience(300, &db->patience, error) != TIRC_OK)
    status = TIRC_BAD;
  else if (!path || !db || !db->name)
    tirc_api_no_memory(error);
  else if (is_url(path))
    status = tirc_postgres_open(path, mode, &db->conn, error);
  else {
    if ((!where || !*where) && mode == TIRC_DB_WRITE) tirc_make_folders(path);
    status = tirc_sqlite_open(path, mode, &db->conn, error);
  }
  free(path);
  if (status == TIRC_OK)
    *out = db;
  else
    tirc_db_close(db);
  return status;
}

void tirc_db_close(tirc_db *db) {
  if (!db) return;
  tirc_db_rollback(db);
  if (db->conn) db->conn->driver->close(db->conn);
  free(db->name);
  free(db);
}

const char *tirc_db_name(const tirc_db *db) { return db ? db->name : NULL; }
