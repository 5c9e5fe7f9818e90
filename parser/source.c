/* Source texts: reading a file, checking that it is text, and showing a line of it in a message. */
#include "../ir/utf8.h"
#include "syntax.h"
#include "tree.h"

#include <errno.h>
#include <stdio.h>

enum { MAX_SOURCE = 1 << 28 };

static _Noreturn void fail_to_read(Tirc *c, const char *path, const char *why) {
  tirc_fail(c, (Loc){path, 0, 0}, "file", NULL, "cannot read '%s': %s", path, why);
}

Source tirc_read_source(Tirc *c, const char *path) {
  bool standard_input = strcmp(path, "-") == 0;
  FILE *f = standard_input ? stdin : fopen(path, "rb");
  if (!f) fail_to_read(c, path, strerror(errno));
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Text text = {.c = c};
    static const size_t step = 1 << 14;
    char *piece = tirc_alloc(c, step);
    size_t n;
    tirc_text_add(&text, "");
    while ((n = fread(piece, 1, step, f)) > 0 && text.n <= MAX_SOURCE)
      tirc_text_addn(&text, piece, n);
    if (ferror(f)) fail_to_read(c, path, strerror(errno));
    if (text.n > MAX_SOURCE) fail_to_read(c, path, "the file is larger than 256 MB");
    TIRC_END(c, trap);
    if (!standard_input) fclose(f);
    return (Source){standard_input ? "<stdin>" : tirc_strdup(c, path), text.at, text.n};
  }
  c->trap = trap.outer;
  if (!standard_input) fclose(f);
  tirc_throw(c);
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
      tirc_fail(c, here, "syntax", "save the file as UTF-8", "byte 0x%02X is no UTF-8 text", s[0]);
    if ((s[0] < 0x20 && !strchr("\t\n\f\r", s[0])) || s[0] == 0 || s[0] == 0x7F)
      tirc_fail(c, here, "syntax", "is this a text file?", "control character 0x%02X in the text",
                s[0]);
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
