#include "calibration.h"
#include "interp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAST_LINE "# whole\n"
#define BEGUN ".begun" /* behind the name of the file */

static const char *head_of(Tirc *c, const Cpu *native) {
  return tirc_format(c, "# tirc calibration of %s, %d core%s, caches of %d, %d and %d KiB\n",
                     native->name, native->cores, native->cores == 1 ? "" : "s", native->l1_kib,
                     native->l2_kib, native->l3_kib);
}

/* Whether it is the usual one. */
static bool find_file(char file[USER_FILE]) {
  const char *set = getenv("TIRC_CALIBRATION");
  *file = 0;
  if (!set || !*set) return tirc_user_file(file, "calibration.sch"), true;
  if (strcmp(set, "off") && strlen(set) < USER_FILE) strcpy(file, set);
  return false;
}

/* The file; without a text where it cannot be read, with the reason in the context. */
static Source read_it(Tirc *c, const char *file) {
  Trap trap;
  if (!TIRC_TRY(c, trap)) return (Source){file, NULL, 0};
  const Source source = tirc_read_source(c, file);
  TIRC_END(c, trap);
  return source;
}

static void run(Script *sc, void *self) { (void)tirc_script_module(sc, self); }

/* Whether it can be run, as `from target import *` runs it; if not, the context says why. */
static bool runs(Tirc *c, const char *file, const Cpu *native) {
  const Calibration itself = {.date = ""}; /* a table that imports `target` imports itself */
  Module *none = tirc_new(c, Module);
  *none = (Module){.c = c, .name = "Module"};
  Sched *s = tirc_sched_new(c, none);
  s->target = native;
  Script *sc = tirc_script_open(s, NULL, NULL, NULL, NULL);
  Calibration *k = tirc_new(c, Calibration);
  *k = itself;
  strcpy(k->file, file);
  sc->calibration = k;
  sc->is_library = true;
  Trap trap;
  if (!TIRC_TRY(c, trap)) return false;
  tirc_script_within_limits(sc, (Loc){0}, run, k->file);
  TIRC_END(c, trap);
  return true;
}

static bool ends_so(const Source *s, const char *end) {
  const size_t n = strlen(end);
  return s->length >= n && memcmp(s->text + s->length - n, end, n) == 0;
}

static bool begins_so(const Source *s, const char *head) {
  const size_t n = strlen(head);
  return s->length > n && memcmp(s->text, head, n) == 0;
}

/* A pipe is read once, and what waits for it may wait for ever. A folder says so when it is read.
 */
static bool is_stream(const char *file) {
  struct stat s;
  return stat(file, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

static void look(Tirc *c, Calibration *k, const Cpu *native) {
  if (is_stream(k->file)) {
    k->problem = tirc_format(c, "'%s' is not a regular file", k->file);
    return;
  }
  const Source s = read_it(c, k->file);
  if (!s.text) {
    k->problem = c->diag.message;
  } else if (!begins_so(&s, k->head)) {
    k->problem = tirc_format(c, "'%s' is of another machine, or no calibration", k->file);
  } else if (!ends_so(&s, LAST_LINE)) {
    k->problem = tirc_format(c, "'%s' is not whole: calibrating was interrupted", k->file);
  } else if (!runs(c, k->file, native)) {
    k->problem =
        tirc_format(c, "'%s' is damaged: line %d: %s", k->file, c->diag.loc.line, c->diag.message);
  } else {
    const char *line = s.text + strlen(k->head);
    line += strspn(line, "# ");
    k->date = tirc_strndup(c, line, strspn(line, "0123456789-: "));
  }
}

/* Whether nothing was ever written there. Where a user's data cannot be, nothing was. */
static bool is_absent(const char *file, bool usual) {
  if (!*file) return true;
  if (access(file, F_OK) == 0) return false;
  return errno == ENOENT || (usual && (errno == ENOTDIR || errno == EACCES));
}

Calibration tirc_calibration_find(Tirc *c, const Cpu *native) {
  Calibration k = {.head = head_of(c, native)};
  const bool usual = find_file(k.file);
  if (!is_absent(k.file, usual)) look(c, &k, native);
  return k;
}

bool tirc_calibration_is_begun(Tirc *c, const Calibration *k, const Cpu *native) {
  const char *file = tirc_format(c, "%s" BEGUN, k->file);
  if (!*k->file || strlen(file) >= USER_FILE || access(file, F_OK)) return false;
  const Source s = read_it(c, file);
  return s.text && begins_so(&s, k->head) && runs(c, file, native);
}
