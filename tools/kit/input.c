#include "input.h"

#include "ir/json_check.h"
#include "kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *read_to_end(FILE *f, size_t most, size_t *n) {
  size_t room = 1 << 14, have = 0;
  bool is_text = true;
  struct stat there;
  if (fstat(fileno(f), &there) == 0 && S_ISREG(there.st_mode) && (size_t)there.st_size > room)
    room = (size_t)there.st_size;
  if (room > most) return errno = EFBIG, NULL;
  char *text = tirc_alloc(memory, room + 1);
  for (size_t k; is_text && (k = fread(text + have, 1, room - have, f)) > 0;) {
    is_text = !memchr(text + have, 0, k);
    have += k;
    if (have > most) return errno = EFBIG, NULL;
    if (have < room) continue;
    text = memcpy(tirc_alloc(memory, 2 * room + 1), text, have);
    room *= 2;
  }
  if (n) *n = have;
  return ferror(f) ? NULL : text;
}

char *read_small_file(const char *path) {
  enum { MOST = 1 << 20 };
  size_t n = 0;
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
  char *text = f ? read_to_end(f, MOST, &n) : NULL;
  const int error = text && memchr(text, 0, n) ? EILSEQ : errno;
  if (f && f != stdin) fclose(f);
  errno = error;
  return error == EILSEQ ? NULL : text;
}

const char *read_fault(int error) {
  return error == EFBIG    ? "the file is too large"
         : error == EILSEQ ? "it is not text: there is a NUL in it"
                           : strerror(error);
}

char *read_bounded_line(FILE *f, size_t most) {
  size_t n = 0, room = 256;
  char *line = tirc_alloc(memory, room + 1);
  errno = 0;
  for (int ch; (ch = getc_unlocked(f)) != EOF;) {
    line[n++] = (char)ch;
    if (ch == '\n') break;
    if (n < room) continue;
    if (room >= most) return errno = EFBIG, NULL;
    line = memcpy(tirc_alloc(memory, 2 * room + 1), line, n);
    room *= 2;
  }
  return n ? line : NULL;
}

char *json_fault(const char *text, size_t n) {
  Tirc *c = tirc_context_new();
  Trap trap;
  char *why = NULL;
  if (c && TIRC_TRY(c, trap)) {
    const JsonFault fault = tirc_json_check_text(c, text, n);
    if (fault.what)
      why = strdup(tirc_format(c, "%s%s", fault.changed ? "" : "no JSON: ", fault.what));
    TIRC_END(c, trap);
  } else {
    why = strdup("out of memory");
  }
  tirc_context_release(c);
  return keep_text(why);
}
