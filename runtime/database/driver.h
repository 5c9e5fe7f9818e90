/* What is behind the interface: something that runs SQL. Both drivers take the same SQL, numbered
 * parameters ($1, in the order of their first use) included; where they differ, a driver says how
 * it is put. */
#ifndef TIRC_RUNTIME_DATABASE_DRIVER_H
#define TIRC_RUNTIME_DATABASE_DRIVER_H

#include "database.h"

enum { DB_SCHEMA = 2 }; /* the version of schema.sql */
extern const char tirc_db_schema[];
/* migrate.c: the SQL that makes version + 1 of a database of that version. */
const char *tirc_db_migration(int version);

typedef enum DbKind { DB_NULL, DB_TEXT, DB_INT, DB_REAL, DB_BYTES } DbKind;

typedef struct DbValue {
  DbKind kind;
  int64_t i;
  double r;
  const char *s; /* TEXT, which ends with a NUL; BYTES */
  size_t n;
} DbValue;

static inline DbValue db_text(const char *s) {
  return s ? (DbValue){.kind = DB_TEXT, .s = s} : (DbValue){0};
}
static inline DbValue db_int(int64_t i) { return (DbValue){.kind = DB_INT, .i = i}; }
DbValue db_real(double r); /* NaN is NULL */
static inline DbValue db_bytes(const void *s, size_t n) {
  return (DbValue){.kind = DB_BYTES, .s = s, .n = n};
}

/* What a statement gives, on the heap; cells row by row. */
typedef struct DbRows {
  int n, columns;
  int room;
  DbValue *cells; /* TEXT and BYTES on the heap, too */
} DbRows;
void tirc_db_rows_free(DbRows *rows);
/* A cell in the next row, left to right; false when memory is out. The bytes are copied. */
bool tirc_db_rows_add(DbRows *rows, DbValue cell);
const char *db_cell_text(const DbRows *rows, int row, int column); /* NULL: none */
int64_t db_cell_int(const DbRows *rows, int row, int column);      /* 0: none */
double db_cell_real(const DbRows *rows, int row, int column);      /* NaN: none */

typedef enum DbOutcome {
  DB_OK,
  DB_FAILED, /* *error says why */
  DB_LOST    /* the connection; *error says why */
} DbOutcome;

typedef struct DbConn { /* each driver's own begins with this */
  const struct DbDriver *driver;
} DbConn;

typedef struct DbDriver {
  /* One statement. rows (or NULL, else empty) gets what it gives, *changed (or NULL) the number of
   * rows that it wrote. */
  DbOutcome (*run)(DbConn *conn, const char *sql, int n, const DbValue *params, DbRows *rows,
                   int64_t *changed, tirc_error **error);
  /* After DB_LOST: one try. */
  DbOutcome (*reconnect)(DbConn *conn, tirc_error **error);
  void (*close)(DbConn *conn);
  const char *begin;       /* a transaction that will write */
  const char *snapshot;    /* one that reads, all of it as it was at one moment */
  const char *now;         /* the time by the database's clock, in seconds since 1970 */
  const char *skip_locked; /* behind a SELECT of rows to be updated */
  const char *lock_row;    /* behind a SELECT whose row nobody else shall change before the end */
} DbDriver;

/* sqlite.c, postgres.c */
tirc_status tirc_sqlite_open(const char *path, tirc_db_mode mode, DbConn **out, tirc_error **error);
void *tirc_postgres_library(void); /* the server's client library, or NULL */
tirc_status tirc_postgres_open(const char *url, tirc_db_mode mode, DbConn **out,
                               tirc_error **error);

/* database.c. An error with the code "database"; hint may be NULL. */
tirc_status tirc_db_error(tirc_error **error, tirc_status status, const char *hint,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

struct tirc_db {
  DbConn *conn;
  char *name;
  bool in_transaction;
  bool lost; /* in the transaction, which then must be begun again */
  double patience;
  void (*tell)(void *self, const char *message);
  void *self;
};

/* Runs a statement; outside of a transaction again and again until the server is there. $now and
 * $skip_locked and $lock_row in it are replaced by what the driver says. */
tirc_status tirc_db_run(tirc_db *db, const char *sql, int n, const DbValue *params, DbRows *rows,
                        int64_t *changed, tirc_error **error);
/* Runs the body in a transaction, again if the server is lost meanwhile: so what it does must be
 * the same when it was done before. Within a transaction: as a part of that. */
tirc_status tirc_db_transact(tirc_db *db,
                             tirc_status (*body)(tirc_db *db, void *self, tirc_error **error),
                             void *self, tirc_error **error);
/* The same for a body that only reads of this database, and sees nothing of what others write
 * meanwhile; it too may run more than once. */
tirc_status tirc_db_read_at_once(tirc_db *db,
                                 tirc_status (*body)(tirc_db *db, void *self, tirc_error **error),
                                 void *self, tirc_error **error);
#define DB_PARAMS(...)                                                                             \
  (int)(sizeof((DbValue[]){__VA_ARGS__}) / sizeof(DbValue)), (DbValue[]) { __VA_ARGS__ }

/* id.c: 32 hexadecimal digits and a NUL, of texts one after another (NULL is none). */
typedef struct DbId {
  char text[33];
} DbId;
DbId tirc_db_id(int n, const char *const *texts);
#define DB_ID(...)                                                                                 \
  tirc_db_id((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                        \
             (const char *[]){__VA_ARGS__})
/* On the heap, NULL: none given or memory is out. */
char *tirc_db_keep(const char *s);
/* Seconds: $TIRC_DATABASE_WAIT, if that is set. */
tirc_status tirc_db_patience(double otherwise, double *out, tirc_error **error);
double tirc_db_clock(void); /* seconds since 1970 */

#endif
