/* SQLite: one file, which any number of processes of one machine use at once. Its write-ahead log
 * makes what is committed safe from a process that is killed. */
#define _GNU_SOURCE
#include "driver.h"
#include "ir/number.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { APPLICATION = 0x74697263 }; /* "tirc", which other programs' files do not have */

typedef struct SqliteConn {
  DbConn base;
  sqlite3 *db;
  char *path;
  bool writes;
  double patience; /* seconds that another process may keep the file locked */
} SqliteConn;

/* SQLite writes files beside the one of the database: whether its folder takes any. */
static bool can_hold_files(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  const bool can = !folder || access(folder, W_OK) == 0 || (errno != EROFS && errno != EACCES);
  free(folder);
  return can;
}

static tirc_status cannot_write(const char *path, tirc_error **error) {
  return tirc_db_error(error, TIRC_BAD,
                       "--database FILE, or TIRC_DATABASE, names another one; what is stored here "
                       "can be read",
                       "cannot write to the database %s: %s is read-only", path,
                       can_hold_files(path) ? "it" : "the folder or file system that it is in");
}

static tirc_status explain(const SqliteConn *s, int code, tirc_error **error) {
  const char *path = s->path;
  const int reason = s->db ? sqlite3_system_errno(s->db) : 0;
  const char *why = reason ? tirc_error_text(reason) : s->db ? sqlite3_errmsg(s->db) : "no memory";
  switch (code & 0xff) {
  case SQLITE_NOTADB:
    return tirc_db_error(error, TIRC_BAD,
                         "--database must name a file that tirc made, or a new file",
                         "%s is not a database", path);
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return tirc_db_error(error, TIRC_BAD, "wait for the other process to finish, or stop it",
                         "the database %s is locked: another process has been writing to it for "
                         "%g seconds",
                         path, s->patience);
  case SQLITE_FULL:
    return tirc_db_error(
        error, TIRC_BAD, "free some space and repeat the command: it continues where it stopped",
        "the disk is full: %s keeps its earlier contents, but nothing of this step", path);
  case SQLITE_CANTOPEN:
    if (s->writes && !can_hold_files(path)) return cannot_write(path, error);
    return tirc_db_error(error, TIRC_BAD, NULL, "cannot open the database %s: %s", path, why);
  case SQLITE_PERM:
  case SQLITE_READONLY: return cannot_write(path, error);
  case SQLITE_CORRUPT:
    return tirc_db_error(error, TIRC_BAD, "sqlite3 FILE .recover saves what can be read",
                         "the database %s is damaged: %s", path, sqlite3_errmsg(s->db));
  case SQLITE_IOERR:
    if (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_TRUNCATE)
      return tirc_db_error(error, TIRC_BAD,
                           "free some space and repeat the command: it continues where it stopped",
                           "the database %s cannot be written (full disk, file size limit or "
                           "failing disk): it keeps its earlier contents, but nothing of this step",
                           path);
    return tirc_db_error(error, TIRC_BAD, NULL, "the database %s cannot be read: %s", path, why);
  default:
    return tirc_db_error(error, TIRC_BAD, NULL, "the database %s: %s", path,
                         s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
  }
}

static int bind_value(sqlite3_stmt *st, int i, const DbValue *v) {
  switch (v->kind) {
  case DB_TEXT: return sqlite3_bind_text(st, i, v->s, -1, SQLITE_STATIC);
  case DB_INT: return sqlite3_bind_int64(st, i, v->i);
  case DB_REAL: return sqlite3_bind_double(st, i, v->r);
  case DB_BYTES: return sqlite3_bind_blob64(st, i, v->n ? v->s : "", v->n, SQLITE_STATIC);
  default: return sqlite3_bind_null(st, i);
  }
}

static DbValue cell_of(sqlite3_stmt *st, int i) {
  switch (sqlite3_column_type(st, i)) {
  case SQLITE_INTEGER: return db_int(sqlite3_column_int64(st, i));
  case SQLITE_FLOAT: return db_real(sqlite3_column_double(st, i));
  case SQLITE_TEXT: return db_text((const char *)sqlite3_column_text(st, i));
  case SQLITE_BLOB: {
    const void *bytes = sqlite3_column_blob(st, i);
    return db_bytes(bytes, (size_t)sqlite3_column_bytes(st, i));
  }
  default: return (DbValue){0};
  }
}

static int fetch(sqlite3_stmt *st, DbRows *rows) {
  int code;
  while ((code = sqlite3_step(st)) == SQLITE_ROW) {
    if (!rows) continue;
    rows->columns = sqlite3_column_count(st);
    for (int i = 0; i < rows->columns; i++)
      if (!tirc_db_rows_add(rows, cell_of(st, i))) return SQLITE_NOMEM;
    rows->n++;
  }
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int run_sql(SqliteConn *s, const char *sql, int n, const DbValue *params, DbRows *rows,
                   int64_t *changed) {
  sqlite3_stmt *st;
  int code = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);
  for (int i = 0; i < n && code == SQLITE_OK; i++) code = bind_value(st, i + 1, &params[i]);
  if (code == SQLITE_OK) code = fetch(st, rows);
  if (code == SQLITE_OK && changed) *changed = sqlite3_changes64(s->db);
  sqlite3_finalize(st);
  return code;
}

static DbOutcome run(DbConn *conn, const char *sql, int n, const DbValue *params, DbRows *rows,
                     int64_t *changed, tirc_error **error) {
  SqliteConn *s = (SqliteConn *)conn;
  int moved = 0;
  /* a file that is gone from its place goes on taking what is written, until it is closed */
  if (s->writes && strcmp(sql, "ROLLBACK") != 0 &&
      sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved) {
    tirc_db_error(
        error, TIRC_BAD, "repeat the command: it starts with the file that is there at that time",
        "the database %s was moved or removed while it was open: what is stored now would "
        "be lost",
        s->path);
    return DB_FAILED;
  }
  const int code = run_sql(s, sql, n, params, rows, changed);
  if (code == SQLITE_OK) return DB_OK;
  explain(s, code, error);
  return DB_FAILED;
}

static DbOutcome reconnect(DbConn *conn, tirc_error **error) {
  (void)conn;
  (void)error;
  return DB_OK; /* a file is not lost */
}

static void close_file(DbConn *conn) {
  SqliteConn *s = (SqliteConn *)conn;
  sqlite3_close_v2(s->db);
  free(s->path);
  free(s);
}

static const DbDriver sqlite = {.run = run,
                                .reconnect = reconnect,
                                .close = close_file,
                                .begin = "BEGIN IMMEDIATE",
                                .snapshot = "BEGIN",
                                .now = "((julianday('now') - 2440587.5) * 86400.0)",
                                .skip_locked = "",
                                .lock_row = ""};

static int number(SqliteConn *s, const char *sql, int64_t *out) {
  DbRows rows = {0};
  const int code = run_sql(s, sql, 0, NULL, &rows, NULL);
  if (code == SQLITE_OK) *out = rows.n ? db_cell_int(&rows, 0, 0) : 0;
  tirc_db_rows_free(&rows);
  return code;
}

typedef struct Contents {
  int64_t application, version, tables;
} Contents;

static int look(SqliteConn *s, Contents *c) {
  int code = number(s, "PRAGMA application_id", &c->application);
  if (code == SQLITE_OK) code = number(s, "PRAGMA user_version", &c->version);
  if (code == SQLITE_OK) code = number(s, "SELECT count(*) FROM sqlite_master", &c->tables);
  return code;
}

static tirc_status judge(const SqliteConn *s, const Contents *c, tirc_error **error) {
  if (c->tables > 0 && c->application != APPLICATION)
    return tirc_db_error(error, TIRC_BAD,
                         "--database must name a file that tirc made, or a new file",
                         "%s is another program's database", s->path);
  if (c->tables > 0 && c->version > DB_SCHEMA)
    return tirc_db_error(error, TIRC_BAD, "use the newer tirc, or another database",
                         "the database %s was made by a newer tirc: its schema has version %d, and "
                         "this tirc knows up to %d",
                         s->path, (int)c->version, DB_SCHEMA);
  return TIRC_OK;
}

/* Two processes may both have seen that there are no tables: the second one then finds them. */
static tirc_status make_tables(SqliteConn *s, tirc_error **error) {
  Contents now = {0};
  char marks[100];
  int code = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (code == SQLITE_OK) code = look(s, &now);
  if (code == SQLITE_OK && now.tables == 0) {
    sqlite3_snprintf(sizeof marks, marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                     APPLICATION, DB_SCHEMA);
    code = sqlite3_exec(s->db, tirc_db_schema, NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(s->db, marks, NULL, NULL, NULL);
  }
  if (code == SQLITE_OK) code = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
  if (code == SQLITE_OK) return judge(s, &now, error);
  const tirc_status status = explain(s, code, error);
  sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

/* Two may come at once: the second one finds it done. */
static tirc_status migrate(SqliteConn *s, tirc_error **error) {
  Contents now = {0};
  char mark[60];
  sqlite3_snprintf(sizeof mark, mark, "PRAGMA user_version = %d", DB_SCHEMA);
  int code = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (code == SQLITE_OK) code = look(s, &now);
  for (int v = (int)now.version; v < DB_SCHEMA && code == SQLITE_OK; v++)
    code = sqlite3_exec(s->db, tirc_db_migration(v), NULL, NULL, NULL);
  if (code == SQLITE_OK && now.version < DB_SCHEMA)
    code = sqlite3_exec(s->db, mark, NULL, NULL, NULL);
  if (code == SQLITE_OK) code = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
  if (code == SQLITE_OK) return TIRC_OK;
  const tirc_status status = explain(s, code, error);
  sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

static tirc_status prepare(SqliteConn *s, tirc_db_mode mode, tirc_error **error) {
  Contents c;
  int code = look(s, &c);
  if (code != SQLITE_OK) return explain(s, code, error);
  tirc_status status = judge(s, &c, error);
  if (status != TIRC_OK) return status;
  if (c.tables == 0 && mode == TIRC_DB_READ)
    return tirc_db_error(error, TIRC_NO, NULL, "the database %s is empty", s->path);
  if (mode == TIRC_DB_WRITE) {
    /* A commit is on the disk when it returns: what a trial cost is worth that. */
    code = sqlite3_exec(
        s->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON",
        NULL, NULL, NULL);
    if (code != SQLITE_OK) return explain(s, code, error);
  }
  if (c.tables == 0) return make_tables(s, error);
  return mode == TIRC_DB_WRITE && c.version < DB_SCHEMA ? migrate(s, error) : TIRC_OK;
}

/* A file in a folder that only others write to, and that nobody is writing to: SQLite then needs no
 * file beside it. On the heap, as the URI that says so; NULL: it is none such. */
static char *unchanging(const char *path) {
  char *uri = malloc(3 * strlen(path) + 30), *folder = strdup(path), *wal = NULL;
  struct stat log;
  if (!uri || !folder || asprintf(&wal, "%s-wal", path) < 0) wal = NULL;
  char *slash = folder ? strrchr(folder, '/') : NULL;
  if (slash) slash[slash == folder] = 0;
  const bool is_free =
      wal && access(slash ? folder : ".", W_OK) != 0 && (stat(wal, &log) != 0 || log.st_size == 0);
  free(folder);
  free(wal);
  if (!is_free) {
    free(uri);
    return NULL;
  }
  char *to = stpcpy(uri, "file:");
  for (; *path; path++)
    to += sprintf(to, strchr("?#%", *path) ? "%%%02X" : "%c", (unsigned char)*path);
  strcpy(to, "?immutable=1");
  return uri;
}

static int open_file(SqliteConn *s, tirc_db_mode mode) {
  char *uri = mode == TIRC_DB_READ ? unchanging(s->path) : NULL;
  const int flags =
      SQLITE_OPEN_EXRESCODE | (uri                     ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                               : mode == TIRC_DB_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                       : SQLITE_OPEN_READWRITE);
  const int code = sqlite3_open_v2(uri ? uri : s->path, &s->db, flags, NULL);
  free(uri);
  return code;
}

tirc_status tirc_sqlite_open(const char *path, tirc_db_mode mode, DbConn **out,
                             tirc_error **error) {
  struct stat there;
  const bool is_there = stat(path, &there) == 0;
  if (mode == TIRC_DB_READ && !is_there && errno == ENOENT)
    return tirc_db_error(error, TIRC_NO, NULL, "there is no database %s", path);
  double patience;
  if (tirc_db_patience(20, &patience, error) != TIRC_OK) return TIRC_BAD;
  SqliteConn *s = calloc(1, sizeof *s);
  if (s)
    *s = (SqliteConn){.base.driver = &sqlite, .path = tirc_db_keep(path), .patience = patience};
  if (!s || !s->path) {
    free(s);
    return tirc_db_error(error, TIRC_BAD, NULL, "no memory");
  }
  s->writes = mode == TIRC_DB_WRITE;
  const int code = open_file(s, mode);
  tirc_status status = TIRC_OK;
  if (is_there && S_ISDIR(there.st_mode))
    status =
        tirc_db_error(error, TIRC_BAD, NULL, "cannot open the database %s: it is a folder", path);
  else if (code != SQLITE_OK)
    status = explain(s, code, error);
  if (status == TIRC_OK) {
    sqlite3_busy_timeout(s->db, (int)(1e3 * s->patience));
    status = prepare(s, mode, error);
  }
  if (status == TIRC_OK)
    *out = &s->base;
  else
    close_file(&s->base);
  return status;
}
