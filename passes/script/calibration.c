#include "calibration.h"

#include "parser/syntax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAST_LINE "# whole\n"

static const char *head_of(Tirc *c, const Cpu *native) {
  return tirc_format(c, "# tirc calibration of %s, %d core%s, caches of %d, %d and %d KiB\n",
                     native->name, native->cores, native->cores == 1 ? "" : "s", native->l1_kib,
                     native->l2_kib, native->l3_kib);
}

static void find_file(char file[USER_FILE]) {
  const char *set = getenv("TIRC_CALIBRATION");
  *file = 0;
  if (!set || !*set)
    tirc_user_file(file, "calibration.sch");
  else if (strcmp(set, "off") && strlen(set) < USER_FILE)
    strcpy(file, set);
}

/* The file; without a text where it cannot be read, with the reason in the context. */
static Source read_it(Tirc *c, const char *file) {
  Trap trap;
  if (!TIRC_TRY(c, trap)) return (Source){file, NULL, 0};
  const Source source = tirc_read_source(c, file);
  TIRC_END(c, trap);
  return source;
}

/* Whether it is a script at all. */
static bool is_script(Tirc *c, const Source *source) {
  Trap trap;
  if (!TIRC_TRY(c, trap)) return false;
  (void)tirc_parse_syntax(c, source);
  TIRC_END(c, trap);
  return true;
}

static bool ends_so(const Source *s, const char *end) {
  const size_t n = strlen(end);
  return s->length >= n && memcmp(s->text + s->length - n, end, n) == 0;
}

static void look(Tirc *c, Calibration *k) {
  const Source s = read_it(c, k->file);
  const size_t n = strlen(k->head);
  if (!s.text) {
    k->problem = c->diag.message;
  } else if (s.length <= n || memcmp(s.text, k->head, n) != 0) {
    k->problem = tirc_format(c, "'%s' is of another machine, or no calibration", k->file);
  } else if (!ends_so(&s, LAST_LINE)) {
    k->begun = true;
    k->problem = tirc_format(c, "'%s' is not whole: calibrating was interrupted", k->file);
  } else if (!is_script(c, &s)) {
    k->problem =
        tirc_format(c, "'%s' is damaged: line %d: %s", k->file, c->diag.loc.line, c->diag.message);
  } else {
    const char *line = s.text + n + strspn(s.text + n, "# ");
    k->date = tirc_strndup(c, line, strspn(line, "0123456789-: "));
  }
}

Calibration tirc_calibration_find(Tirc *c, const Cpu *native) {
  Calibration k = {.head = head_of(c, native)};
  find_file(k.file);
  if (*k.file && (access(k.file, F_OK) == 0 || errno != ENOENT)) look(c, &k);
  return k;
}
