/* What scripts may read. */
#define _GNU_SOURCE
#include "reads.h"

#include "interp.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 500, MOST_DEPTH = 8 };

static bool is_word_of_name(char ch) {
  return ch == '_' || ch == '.' || (ch & 0x80) || (ch >= '0' && ch <= '9') ||
         (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* The next name, or "". */
static const char *named_behind(Tirc *c, const char *at, const char *end) {
  while (at < end && !is_word_of_name(*at)) at++;
  const char *from = at;
  while (at < end && is_word_of_name(*at)) at++;
  return tirc_strndup(c, from, (size_t)(at - from));
}

static void look_for(ScriptReads *r, const char *script, const char *name) {
  const char *places[2];
  tirc_script_places(r->c, script, name, places);
  for (int i = 0; i < 2; i++) tirc_script_reads(r, places[i]);
}

static bool is_here(const char *at, const char *end, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(end - at) >= n && memcmp(at, word, n) == 0 &&
         (at + n == end || !is_word_of_name(at[n]));
}

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\t')) at++;
  return at;
}

/* read_json("knobs.json"): what stands behind the word, in the script's folder. */
static void note_json(ScriptReads *r, const char *script, const char *at, const char *end) {
  at = skip_blanks(at, end);
  if (at == end || *at != '(') return; /* the word in a comment */
  at = skip_blanks(at + 1, end);
  const char quote = at < end && (*at == '"' || *at == '\'') ? *at++ : 0;
  const char *close = quote ? memchr(at, quote, (size_t)(end - at)) : NULL;
  const char *behind = close ? skip_blanks(close + 1, end) : end;
  const char *slash = strrchr(script, '/');
  if (behind == end || (*behind != ')' && *behind != ',')) { /* a name, or a sum of texts */
    r->is_hidden = true;
    return;
  }
  const char *path = tirc_format(r->c, "%.*s%.*s", slash ? (int)(slash + 1 - script) : 0, script,
                                 (int)(close - at), at);
  if (tirc_strmap_get(&r->seen, path)) return;
  *tirc_strmap_at(r->c, &r->seen, path) = r;
  if (access(path, R_OK) == 0) vec_push(r->c, r->files, path);
}

static void read_imports(ScriptReads *r, const char *path, const char *text, size_t n) {
  const char *end = text + n;
  bool inside = false; /* of a word */
  for (const char *at = text; at < end; at++) {
    const bool starts = !inside && is_word_of_name(*at);
    inside = is_word_of_name(*at);
    if (!starts) continue;
    if (is_here(at, end, "from")) look_for(r, path, named_behind(r->c, at + 4, end));
    if (is_here(at, end, "import")) look_for(r, path, named_behind(r->c, at + 6, end));
    if (is_here(at, end, "read_json")) {
      r->is_open = true;
      note_json(r, path, at + strlen("read_json"), end);
    }
  }
  look_for(r, path, "target"); /* which rules import */
}

void tirc_script_reads(ScriptReads *r, const char *path) {
  if (tirc_strmap_get(&r->seen, path)) return;
  path = tirc_strdup(r->c, path);
  *tirc_strmap_at(r->c, &r->seen, path) = r;
  if (r->seen.n > MOST_FILES || strcmp(path, "-") == 0) {
    r->is_open = true;
    return;
  }
  const bool there = access(path, R_OK) == 0;
  tirc_text_addf(&r->text, "%s: ", path);
  if (!there) {
    tirc_text_add(&r->text, "absent\n");
    return;
  }
  vec_push(r->c, r->files, path);
  const Source source = tirc_read_source(r->c, path);
  tirc_text_addf(&r->text, "%zu bytes\n", source.length);
  tirc_text_addn(&r->text, source.text, source.length);
  read_imports(r, path, source.text, source.length);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_folder(ScriptReads *r, const char *folder, int depth) {
  VEC(const char *) names = {0};
  DIR *d = opendir(folder);
  r->is_open |= depth > MOST_DEPTH;
  for (const struct dirent *e; d && depth <= MOST_DEPTH && (e = readdir(d)) != NULL;)
    if (*e->d_name != '.') vec_push(r->c, names, tirc_strdup(r->c, e->d_name));
  if (d) closedir(d);
  r->is_open |= names.n > MOST_FILES;
  if (names.n) qsort(names.at, (size_t)names.n, sizeof *names.at, by_name);
  for (int i = 0; i < names.n && r->seen.n <= MOST_FILES; i++) {
    const char *path = tirc_format(r->c, "%s/%s", folder, names.at[i]);
    const size_t n = strlen(path);
    struct stat s;
    if (stat(path, &s)) continue;
    if (S_ISDIR(s.st_mode)) read_folder(r, path, depth + 1);
    if (S_ISREG(s.st_mode) && n > 4 && strcmp(path + n - 4, ".sch") == 0)
      tirc_script_reads(r, path);
  }
}

void tirc_script_reads_folder(ScriptReads *r, const char *folder) {
  tirc_text_addf(&r->text, "%s/\n", folder);
  read_folder(r, folder, 0);
}
