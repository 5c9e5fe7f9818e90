/* Source texts: reading a file, checking that it is text, and showing a line of it in a message. */
#define _GNU_SOURCE /* O_PATH */
#include "ir/nearest.h"
#include "ir/number.h"
#include "ir/utf8.h"
#include "syntax.h"
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE = 1 << 28 };

/* "did you mean 'good.sch'?" of what stands in the folder of a path where no file is; or NULL. */
static const char *near_file(Tirc *c, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  DIR *folder = opendir(slash ? tirc_format(c, "%.*s", (int)(name - path), path) : ".");
  Nearest near = {.wanted = name, .n_wanted = strlen(name)};
  for (const struct dirent *e; folder && (e = readdir(folder));)
    if (*e->d_name != '.') {
      const char *kept = tirc_strdup(c, e->d_name);
      tirc_offer_name(&near, kept, strlen(kept));
    }
  if (folder) closedir(folder);
  if (!tirc_suggest_name(&near, "", NULL)) return NULL;
  return tirc_format(c, "did you mean '%.*s%s'?", (int)(name - path), path, near.name);
}

static _Noreturn void fail_to_read(Tirc *c, const char *path, const char *why) {
  const char *hint = access(path, F_OK) ? near_file(c, path) : NULL;
  tirc_fail(c, (Loc){path, 0, 0}, CODE_FILE, hint, "cannot read '%s': %s", path, why);
}

/* Closes f, unless it is the standard input. */
static Source read_file(Tirc *c, const char *path, FILE *f) {
  const bool standard_input = f == stdin;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Text text = {.c = c};
    static const size_t step = 1 << 14;
    char *piece = tirc_alloc(c, step);
    size_t n;
    tirc_text_add(&text, "");
    struct stat there;
    const bool sized = fstat(fileno(f), &there) == 0 && S_ISREG(there.st_mode);
    const bool large = sized && there.st_size > MAX_SOURCE;
    bool is_text = true; /* what is none is not read on, and refused where it is used */
    while (!large && is_text && text.n <= MAX_SOURCE && (n = fread(piece, 1, step, f)) > 0) {
      is_text = !memchr(piece, 0, n);
      tirc_text_addn(&text, piece, n);
    }
    if (ferror(f)) fail_to_read(c, path, tirc_error_text(errno));
    if (large || text.n > MAX_SOURCE) fail_to_read(c, path, "the file is larger than 256 MB");
    TIRC_END(c, trap);
    if (!standard_input) fclose(f);
    return (Source){standard_input ? "<stdin>" : tirc_strdup(c, path), text.at, text.n};
  }
  c->trap = trap.outer;
  if (!standard_input) fclose(f);
  tirc_throw(c);
}

Source tirc_read_source(Tirc *c, const char *path) {
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!f) fail_to_read(c, path, tirc_error_text(errno));
  return read_file(c, path, f);
}

/* Where an open file is, all links followed; false where that cannot be told. */
static bool place_of(int fd, char *out, size_t size) {
  char link[64];
  tirc_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, out, size - 1);
  if (n < 0 || (size_t)n == size - 1) return false;
  out[n] = 0;
  return true;
}

static bool lies_in(int fd, int folder) {
  char place[PATH_MAX], root[PATH_MAX];
  if (!place_of(fd, place, sizeof place) || !place_of(folder, root, sizeof root)) return false;
  const size_t n = strcmp(root, "/") ? strlen(root) : 0;
  return !strncmp(place, root, n) && place[n] == '/';
}

/* Opened first as a name only, which has no effect on a device or a pipe, and read through what was
 * opened, so that no link can be put in its place meanwhile. */
FileFault tirc_read_inside(Tirc *c, const char *folder, const char *path, size_t most,
                           Source *out) {
  const int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int name = root < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
  struct stat there;
  FileFault fault = FILE_ABSENT;
  FILE *f = NULL;
  if (name >= 0 && fstat(name, &there) == 0) {
    char link[64];
    tirc_snprintf(link, sizeof link, "/proc/self/fd/%d", name);
    fault = !S_ISREG(there.st_mode)            ? FILE_ABSENT
            : !lies_in(name, root)             ? FILE_OUTSIDE
            : (uintmax_t)there.st_size > most  ? FILE_LARGE
            : (f = fopen(link, "rbe")) == NULL ? FILE_ABSENT
                                               : FILE_FINE;
  }
  if (name >= 0) close(name);
  if (root >= 0) close(root);
  if (fault == FILE_FINE) *out = read_file(c, path, f);
  return fault;
}

const char *tirc_syn_normalise(Tirc *c, const Source *source, size_t *length) {
  const unsigned char *s = (const unsigned char *)source->text;
  size_t left = source->length;
  char *out = tirc_alloc(c, left + 2); /* the scanner wants two NULs behind it */
  size_t n = 0;
  int line = 1, column = 1;
  if (left >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3, left -= 3;
  while (left) {
    size_t k = tirc_utf8_length(s, left);
    Loc here = {source->name, line, column};
    if (k == 0)
      tirc_fail(c, here, CODE_SYNTAX, "save the file as UTF-8", "the byte 0x%02X is not UTF-8 text",
                s[0]);
    if ((s[0] < 0x20 && !strchr("\t\n\f\r", s[0])) || s[0] == 0 || s[0] == 0x7F)
      tirc_fail(c, here, CODE_SYNTAX, "is this a text file?",
                "the text contains the control character 0x%02X", s[0]);
    if (s[0] == '\r') {
      if (left > 1 && s[1] == '\n') s++, left--;
      out[n++] = '\n';
    } else {
      memcpy(out + n, s, k);
      n += k;
    }
    if (out[n - 1] == '\n')
      line++, column = 1;
    else
      column++;
    s += k;
    left -= k;
  }
  *length = n;
  return out;
}

/* The line of that number without its end, or NULL. */
static const char *find_line(const Source *source, int line, size_t *n) {
  const char *s = source->text, *end = s + source->length;
  if (line < 1 || !s) return NULL;
  if (source->length >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3;
  for (int at = 1; at < line; at++) {
    while (s < end && *s != '\n' && *s != '\r') s++;
    if (s == end) return NULL;
    s += s[0] == '\r' && s + 1 < end && s[1] == '\n' ? 2 : 1;
  }
  const char *stop = s;
  while (stop < end && *stop != '\n' && *stop != '\r') stop++;
  *n = (size_t)(stop - s);
  return s;
}

const char *tirc_source_excerpt(Tirc *c, const Source *source, int line, int column) {
  enum { WIDTH = 100, BEFORE = 60 };
  size_t n;
  const char *s = find_line(source, line, &n);
  if (!s) return NULL;
  int first = column > WIDTH ? column - BEFORE : 1; /* the first column shown */
  Text above = {.c = c}, below = {.c = c};
  tirc_text_addf(&above, "%5d | %s", line, first > 1 ? "..." : "");
  tirc_text_addf(&below, "      | %s", first > 1 ? "   " : "");
  int at = 0;
  for (size_t i = 0; i < n; i++) {
    if (!tirc_utf8_continues(s[i])) at++;
    if (at < first) continue;
    if (at >= first + WIDTH) {
      tirc_text_add(&above, "...");
      break;
    }
    bool printable = (unsigned char)s[i] >= 0x20 && s[i] != 0x7F;
    tirc_text_addn(&above, printable || s[i] == '\t' ? &s[i] : "?", 1);
    if (at < column && !tirc_utf8_continues(s[i]))
      tirc_text_addn(&below, s[i] == '\t' ? "\t" : " ", 1);
  }
  if (column < 1) return above.at;
  return tirc_format(c, "%s\n%s^", above.at, below.at);
}
