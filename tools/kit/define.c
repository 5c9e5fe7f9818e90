/* -D NAME=VALUE where nothing is called NAME, or two of one name, are a slip of the pen, and would
 * go unnoticed: the files of the command line must have the name somewhere. */
#include "input.h"
#include "ir/ascii.h"
#include "model.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* A file's text; NULL when it is none that can be read twice. */
static char *text_of_file(const char *path) {
  struct stat info;
  FILE *f = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
  char *text = f ? read_to_end(f, SIZE_MAX / 2, NULL) : NULL;
  if (f) fclose(f);
  return text;
}

static bool has_name(const char *text, const char *name, size_t n) {
  for (const char *p = text; (p = strstr(p, name)) != NULL; p++)
    if ((p == text || !tirc_is_word(p[-1])) && !tirc_is_word(p[n])) return true;
  return false;
}

/* Constants are assigned at the start of a line. */
static void look_for_nearest(const char *text, Nearest *best) {
  for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
    size_t n = 0;
    while (tirc_is_word(line[n])) n++;
    const char *after = line + n;
    while (*after == ' ') after++;
    if (n > 0 && *after == '=' && after[1] != '=') tirc_offer_name(best, line, n);
  }
}

/* A script that imports others may want it for one of them. */
static bool imports(const char *script) {
  for (const char *line = script; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
    if (!strncmp(line, "from ", 5) || !strncmp(line, "import ", 7)) return true;
  return false;
}

static int require_name(const char *program, const char *name, int n_texts, char **texts) {
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 1; i < n_texts; i++)
    if (imports(texts[i])) return DONE;
  for (int i = 0; i < n_texts; i++)
    if (has_name(texts[i], name, strlen(name))) return DONE;
  for (int i = 0; i < n_texts; i++) look_for_nearest(texts[i], &best);
  char hint[256] = "constants stand at the top of a program: M = 128";
  if (best.name)
    snprintf(hint, sizeof hint, "%s '%.*s'", best.distance <= 2 ? "did you mean" : "there is",
             (int)(best.n < 200 ? best.n : 200), best.name);
  return complain(hint, "-D %s: nothing in %s%s is called '%s'", name, program,
                  n_texts > 1 ? " or the scripts" : "", name);
}

int require_once(const char *option, const List *list) {
  for (int i = 0; list && i < list->n; i++)
    for (int k = 0; k < i; k++) {
      const size_t n = strcspn(list->at[i], "=");
      if (list->at[i][n] && strncmp(list->at[i], list->at[k], n + 1) == 0)
        return complain("give one of them", "%s gives %.*s twice: %s and %s", option, (int)n,
                        list->at[i], list->at[k], list->at[i]);
    }
  return DONE;
}

int require_defines_used(const List *args, const List *define) {
  int status = DONE, n = 0;
  if (!define->n || (args->n && is_onnx(args->at[0])))
    return DONE; /* the import knows its extents */
  char **texts = tirc_alloc_array(memory, (size_t)args->n + 1, sizeof *texts);
  while (n < args->n && (texts[n] = text_of_file(args->at[n])) != NULL) n++;
  for (int i = 0; n == args->n && n && i < define->n && status == DONE; i++) {
    const size_t length = strcspn(define->at[i], "=");
    char *name = tirc_strndup(memory, define->at[i], length);
    if (length && define->at[i][length]) status = require_name(args->at[0], name, n, texts);
  }
  return status;
}
