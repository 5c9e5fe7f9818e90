/* Reading .case files: a head of `key: value` lines, then parts that each start with `--- name`. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

char *case_read(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = NULL;
  size_t n = 0, got = 0;
  do {
    text = realloc(text, n + 65537);
    if (!text) abort();
    n += got = fread(text + n, 1, 65536, f);
  } while (got);
  fclose(f);
  text[n] = 0;
  return text;
}

static const char *next_line(const char *s) {
  const char *end = strchr(s, '\n');
  return end ? end + 1 : s + strlen(s);
}

static char *line_text(Tirc *c, const char *s) { return tirc_strndup(c, s, strcspn(s, "\r\n")); }

static bool head_line(Tirc *c, const char *line, Case *out) {
  char *key = line_text(c, line), *value = strchr(key, ':');
  if (!value) return false;
  *value++ = 0;
  value += strspn(value, " ");
  struct {
    const char *key;
    const char **text;
  } rows[] = {
      {"verdict", &out->verdict}, {"code", &out->code},
      {"message", &out->message}, {"condition", &out->condition},
      {"hint", &out->hint},       {"title", NULL},
      {"primitive", NULL},        {"nothing-to-run", &out->nothing_to_run},
  };
  if (!strcmp(key, "fails-at-call")) return out->fails_at_call = atoi(value), true;
  if (!strcmp(key, "reference-fault")) return out->reference_fault = !strcmp(value, "yes"), true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].key, key)) {
      if (rows[i].text) *rows[i].text = value;
      return true;
    }
  return false;
}

bool case_parse(Tirc *c, const char *name, const char *text, Case *out, const char **why) {
  *out = (Case){.name = tirc_strdup(c, name)};
  const char *s = text;
  for (; *s && strncmp(s, "--- ", 4); s = next_line(s)) {
    bool blank = !line_text(c, s)[0];
    if (!blank && !head_line(c, s, out)) return *why = "a line of the head is not a known key", false;
  }
  while (*s) {
    const char *part = line_text(c, s + 4), *start = next_line(s), *end = start;
    while (*end && strncmp(end, "--- ", 4)) end = next_line(end);
    const char *body = tirc_strndup(c, start, (size_t)(end - start));
    const struct {
      const char *name, **text;
    } parts[] = {{"program", &out->program},     {"schedule", &out->schedule},
                 {"result", &out->result},       {"why", &out->why},
                 {"forbidden", &out->forbidden}, {"fixed-program", &out->fixed_program},
                 {"fixed", &out->fixed}};
    const char **to = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      if (!strcmp(parts[i].name, part)) to = parts[i].text;
    if (!to) return *why = "a part that is not known", false;
    *to = body;
    s = end;
  }
  if (!out->verdict) return *why = "no verdict", false;
  if (!out->program || !out->schedule) return *why = "no program or no schedule", false;
  if (strcmp(out->verdict, "legal") && !out->code) return *why = "no code of the refusal", false;
  return true;
}
