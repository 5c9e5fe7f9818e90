/* PostgreSQL: a server that any number of machines share. Its client library is loaded when a URL
 * asks for it, so that nobody else needs it; what is used of it has been the same since release 9.
 * The tables stand in a schema of their own, tirc, so they get on with others in the database. */
#define _GNU_SOURCE
#include "driver.h"
#include "ir/number.h"

#include "ir/utf8.h"

#include "runtime/api/api.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/* From libpq-fe.h and the server's catalog. */
enum {
  CONNECTION_OK = 0,
  PGRES_COMMAND_OK = 1,
  PGRES_TUPLES_OK = 2,
  PG_DIAG_SQLSTATE = 'C',
  PG_DIAG_MESSAGE = 'M',
  TYPE_BYTEA = 17,
  TYPE_INT8 = 20,
  TYPE_INT2 = 21,
  TYPE_INT4 = 23,
  TYPE_FLOAT4 = 700,
  TYPE_FLOAT8 = 701
};

typedef struct Libpq {
  void *handle;
#define PQ(result, name, arguments) result(*name) arguments;
#include "libpq.def"
#undef PQ
} Libpq;

typedef struct PostgresConn {
  DbConn base;
  Libpq pq;
  PGconn *conn;
} PostgresConn;

void *tirc_postgres_library(void) {
  static const char *const names[] = {"libpq.so.5", "libpq.so"};
  void *handle = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
    handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  return handle;
}

static bool load_library(Libpq *pq, tirc_error **error) {
  pq->handle = tirc_postgres_library();
  if (!pq->handle) {
    tirc_db_error(error, TIRC_BAD, "on Debian: apt install libpq5",
                  "a database on a PostgreSQL server needs its client library, libpq.so.5");
    return false;
  }
  const struct {
    void *to;
    const char *name;
  } symbols[] = {
#define PQ(result, name, arguments) {&pq->name, #name},
#include "libpq.def"
#undef PQ
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *symbol = dlsym(pq->handle, symbols[i].name);
    if (!symbol) {
      tirc_db_error(error, TIRC_BAD, NULL, "libpq has no %s", symbols[i].name);
      return false;
    }
    memcpy(symbols[i].to, &symbol, sizeof symbol);
  }
  return true;
}

/* --- errors ----------------------------------------------------------------------------------- */

/* The first line of a message of libpq's. */
static tirc_status explain(const char *what, const char *message, tirc_error **error) {
  if (strncmp(message, "ERROR:  ", 8) == 0) message += 8;
  return tirc_db_error(error, TIRC_BAD, NULL, "the PostgreSQL server %s: %.*s", what,
                       (int)strcspn(message, "\n"), message);
}

static bool starts_with_any(const char *state, const char *const *classes) {
  for (; *classes; classes++)
    if (strncmp(state, *classes, strlen(*classes)) == 0) return true;
  return false;
}

/* Whether the same statement may do better in a while: the server was stopped or is starting, or
 * it has ended one of two transactions that waited for each other. */
static bool is_passing(const PostgresConn *p, const char *state) {
  static const char *const classes[] = {"08", "57P01", "57P02", "57P03", "40001", "40P01", NULL};
  /* What has no state was found by libpq itself, as that it cannot send. */
  return p->pq.PQstatus(p->conn) != CONNECTION_OK || !state || starts_with_any(state, classes);
}

static DbOutcome judge(const PostgresConn *p, const PGresult *r, tirc_error **error) {
  static const char *const full[] = {"53", NULL};
  const char *state = r ? p->pq.PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
  const char *message = r ? p->pq.PQresultErrorField(r, PG_DIAG_MESSAGE) : NULL;
  if (!message) message = p->pq.PQerrorMessage(p->conn);
  if (is_passing(p, state)) {
    explain("is lost", message, error);
    return DB_LOST;
  }
  explain(state && starts_with_any(state, full)
              ? "has no space left (results that were stored are kept)"
              : "refuses",
          message, error);
  return DB_FAILED;
}

/* --- statements ------------------------------------------------------------------------------- */

/* Parameters as text; `room` holds what had to be written out. False: memory is out. */
static bool write_params(int n, const DbValue *params, const char **values, char **room) {
  for (int i = 0; i < n; i++) {
    const DbValue *v = &params[i];
    const size_t size = v->kind == DB_BYTES ? 2 * v->n + 3 : 32;
    values[i] = v->kind == DB_TEXT ? v->s : NULL;
    if (v->kind == DB_NULL || (v->kind == DB_TEXT && !tirc_utf8_wrong(v->s))) continue;
    if (v->kind == DB_TEXT) { /* the server takes no other text */
      if (!(room[i] = malloc(3 * strlen(v->s) + 1))) return false;
      (void)tirc_utf8_repair(room[i], v->s);
      values[i] = room[i];
      continue;
    }
    if (!(room[i] = malloc(size))) return false;
    if (v->kind == DB_INT) snprintf(room[i], size, "%lld", (long long)v->i);
    if (v->kind == DB_REAL) tirc_snprintf(room[i], size, "%.17g", v->r);
    if (v->kind == DB_BYTES) {
      strcpy(room[i], "\\x");
      for (size_t k = 0; k < v->n; k++)
        snprintf(room[i] + 2 + 2 * k, 3, "%02x", (unsigned char)v->s[k]);
    }
    values[i] = room[i];
  }
  return true;
}

static bool add_cell(const PostgresConn *p, const PGresult *r, int row, int column, DbRows *rows) {
  const char *text = p->pq.PQgetvalue(r, row, column);
  if (p->pq.PQgetisnull(r, row, column)) return tirc_db_rows_add(rows, (DbValue){0});
  switch (p->pq.PQftype(r, column)) {
  case TYPE_INT2:
  case TYPE_INT4:
  case TYPE_INT8: return tirc_db_rows_add(rows, db_int(strtoll(text, NULL, 10)));
  case TYPE_FLOAT4:
  case TYPE_FLOAT8: return tirc_db_rows_add(rows, db_real(tirc_parse_double(text, NULL)));
  case TYPE_BYTEA: {
    size_t n = 0;
    unsigned char *bytes = p->pq.PQunescapeBytea((const unsigned char *)text, &n);
    const bool ok = bytes && tirc_db_rows_add(rows, db_bytes(bytes, n));
    if (bytes) p->pq.PQfreemem(bytes);
    return ok;
  }
  default: return tirc_db_rows_add(rows, db_text(text));
  }
}

static bool fetch(const PostgresConn *p, const PGresult *r, DbRows *rows) {
  rows->columns = p->pq.PQnfields(r);
  for (int i = 0; i < p->pq.PQntuples(r); i++) {
    for (int k = 0; k < rows->columns; k++)
      if (!add_cell(p, r, i, k, rows)) return false;
    rows->n++;
  }
  return true;
}

static DbOutcome run(DbConn *conn, const char *sql, int n, const DbValue *params, DbRows *rows,
                     int64_t *changed, tirc_error **error) {
  enum { MOST = 64 };
  PostgresConn *p = (PostgresConn *)conn;
  const char *values[MOST];
  char *room[MOST] = {0};
  PGresult *r = NULL;
  DbOutcome outcome = DB_OK;
  bool memory = n <= MOST && write_params(n, params, values, room);
  if (memory) {
    r = p->pq.PQexecParams(p->conn, sql, n, NULL, values, NULL, NULL, 0);
    const int status = r ? p->pq.PQresultStatus(r) : -1;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      outcome = judge(p, r, error);
    else if (rows)
      memory = fetch(p, r, rows);
    if (r && changed) *changed = strtoll(p->pq.PQcmdTuples(r), NULL, 10);
  }
  if (!memory) outcome = tirc_api_no_memory(error) == TIRC_OK ? DB_OK : DB_FAILED;
  if (r) p->pq.PQclear(r);
  for (int i = 0; i < n && i < MOST; i++) free(room[i]);
  return outcome;
}

/* --- connections ------------------------------------------------------------------------------ */

static DbOutcome execute(PostgresConn *p, const char *sql, tirc_error **error) {
  PGresult *r = p->pq.PQexec(p->conn, sql);
  const int status = r ? p->pq.PQresultStatus(r) : -1;
  const bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  const DbOutcome outcome = ok ? DB_OK : judge(p, r, error);
  if (r) p->pq.PQclear(r);
  return outcome;
}

static DbOutcome settle(PostgresConn *p, tirc_error **error) {
  if (p->pq.PQstatus(p->conn) == CONNECTION_OK)
    return execute(p,
                   "SET client_min_messages = warning; SET search_path = tirc;"
                   "SET standard_conforming_strings = on",
                   error);
  explain("cannot be reached", p->pq.PQerrorMessage(p->conn), error);
  return DB_LOST;
}

static DbOutcome reconnect(DbConn *conn, tirc_error **error) {
  PostgresConn *p = (PostgresConn *)conn;
  if (p->pq.PQstatus(p->conn) == CONNECTION_OK &&
      execute(p, "ROLLBACK", NULL) == DB_OK) /* of what waited for another */
    return DB_OK;
  p->pq.PQreset(p->conn);
  return settle(p, error);
}

static void close_connection(DbConn *conn) {
  PostgresConn *p = (PostgresConn *)conn;
  if (p->conn) p->pq.PQfinish(p->conn);
  if (p->pq.handle) dlclose(p->pq.handle);
  free(p);
}

static const DbDriver postgres = {.run = run,
                                  .reconnect = reconnect,
                                  .close = close_connection,
                                  .begin = "BEGIN",
                                  .snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ",
                                  .now = "extract(epoch from clock_timestamp())::float8",
                                  .skip_locked = "FOR UPDATE SKIP LOCKED",
                                  .lock_row = "FOR UPDATE"};

/* --- tables ----------------------------------------------------------------------------------- */

/* 0: there are none. */
static DbOutcome read_version(PostgresConn *p, int64_t *version, tirc_error **error) {
  DbRows rows = {0};
  *version = 0;
  DbOutcome outcome = run(&p->base,
                          "SELECT count(*) FROM pg_class c JOIN pg_namespace n"
                          " ON n.oid = c.relnamespace"
                          " WHERE n.nspname = 'tirc' AND c.relname = 'tirc_schema'",
                          0, NULL, &rows, NULL, error);
  const bool is_there = outcome == DB_OK && db_cell_int(&rows, 0, 0) > 0;
  tirc_db_rows_free(&rows);
  if (is_there)
    outcome = run(&p->base, "SELECT version FROM tirc.tirc_schema", 0, NULL, &rows, NULL, error);
  if (is_there && outcome == DB_OK && rows.n) *version = db_cell_int(&rows, 0, 0);
  tirc_db_rows_free(&rows);
  return outcome;
}

/* Several may come at once: all but one wait for it, and find the tables there. */
static DbOutcome make_tables(PostgresConn *p, tirc_error **error) {
  int64_t version = 0;
  char mark[200];
  snprintf(mark, sizeof mark,
           "CREATE TABLE tirc_schema (version INTEGER NOT NULL);"
           "INSERT INTO tirc_schema VALUES (%d)",
           DB_SCHEMA);
  DbOutcome outcome = execute(p, "BEGIN; SELECT pg_advisory_xact_lock(1953067619)", error);
  if (outcome == DB_OK) outcome = read_version(p, &version, error);
  if (outcome == DB_OK && version == 0) {
    outcome = execute(p, "CREATE SCHEMA IF NOT EXISTS tirc", error);
    if (outcome == DB_OK) outcome = execute(p, tirc_db_schema, error);
    if (outcome == DB_OK) outcome = execute(p, mark, error);
  }
  if (outcome == DB_OK) return execute(p, "COMMIT", error);
  execute(p, "ROLLBACK", NULL);
  return outcome;
}

/* Likewise. */
static DbOutcome migrate(PostgresConn *p, tirc_error **error) {
  int64_t version = 0;
  char mark[60];
  snprintf(mark, sizeof mark, "UPDATE tirc_schema SET version = %d", DB_SCHEMA);
  DbOutcome outcome = execute(p, "BEGIN; SELECT pg_advisory_xact_lock(1953067619)", error);
  if (outcome == DB_OK) outcome = read_version(p, &version, error);
  for (int v = (int)version; v < DB_SCHEMA && outcome == DB_OK; v++)
    outcome = execute(p, tirc_db_migration(v), error);
  if (outcome == DB_OK && version < DB_SCHEMA) outcome = execute(p, mark, error);
  if (outcome == DB_OK) return execute(p, "COMMIT", error);
  execute(p, "ROLLBACK", NULL);
  return outcome;
}

/* Otherwise libpq prints them. */
static void ignore_notice(void *arg, const char *message) {
  (void)arg;
  (void)message;
}

static tirc_status prepare(PostgresConn *p, const char *url, tirc_db_mode mode,
                           tirc_error **error) {
  static const char *const keywords[] = {"connect_timeout",
                                         "keepalives_idle",
                                         "keepalives_interval",
                                         "keepalives_count",
                                         "tcp_user_timeout",
                                         "application_name",
                                         "dbname",
                                         NULL};
  /* What the URL says comes last, and so counts. A machine that is gone is noticed in a minute. */
  const char *const values[] = {"10", "20", "10", "4", "60000", "tirc", url, NULL};
  int64_t version = 0;
  p->conn = p->pq.PQconnectdbParams(keywords, values, 1);
  if (!p->conn) return tirc_api_no_memory(error);
  p->pq.PQsetNoticeProcessor(p->conn, ignore_notice, NULL);
  if (settle(p, error) != DB_OK || read_version(p, &version, error) != DB_OK) return TIRC_BAD;
  if (version > DB_SCHEMA)
    return tirc_db_error(error, TIRC_BAD, "use the newer tirc, or another database",
                         "the server's database was made by a newer tirc: its schema has version "
                         "%d, and this tirc knows up to %d",
                         (int)version, DB_SCHEMA);
  if (version == 0 && mode == TIRC_DB_READ)
    return tirc_db_error(error, TIRC_NO, NULL, "the server's database has no tables of tirc's");
  DbOutcome outcome = DB_OK;
  if (version == 0)
    outcome = make_tables(p, error);
  else if (version < DB_SCHEMA && mode == TIRC_DB_WRITE)
    outcome = migrate(p, error);
  return outcome == DB_OK ? TIRC_OK : TIRC_BAD;
}

tirc_status tirc_postgres_open(const char *url, tirc_db_mode mode, DbConn **out,
                               tirc_error **error) {
  PostgresConn *p = calloc(1, sizeof *p);
  if (!p) return tirc_api_no_memory(error);
  p->base.driver = &postgres;
  const tirc_status status = load_library(&p->pq, error) ? prepare(p, url, mode, error) : TIRC_BAD;
  if (status == TIRC_OK)
    *out = &p->base;
  else
    close_connection(&p->base);
  return status;
}
