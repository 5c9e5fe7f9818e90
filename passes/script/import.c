/* `from recipes.tiles import choose, pack`: the names of another script, which is run once for
 * itself when it is first imported. It is recipes/tiles.sch in the folder of the script that
 * imports it, or in the folder above that one; nothing else can be reached. What scripts for the
 * reference import (tvm, math ...) are no files. */
#include "interp.h"

#include <unistd.h>

typedef struct Import { /* what the statement says */
  const char *from;     /* NULL: import NAME */
  const char *rest;     /* the text behind "import" */
} Import;

typedef struct ScriptModule ScriptModule;
struct ScriptModule {
  const char *path;
  Env *env; /* NULL while it is being run */
  ScriptModule *next;
};

static bool is_name(char ch) {
  return ch == '_' || ch == '.' || (ch & 0x80) || (ch >= '0' && ch <= '9') ||
         (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* The next word, or "" at the end. */
static const char *word(Tirc *c, const char **s) {
  while (**s && !is_name(**s) && **s != '*') (*s)++;
  const char *from = *s;
  if (**s == '*') return (*s)++, "*";
  while (is_name(**s)) (*s)++;
  return tirc_strndup(c, from, (size_t)(*s - from));
}

static Import read_import(Tirc *c, const char *s) {
  Import i = {0};
  if (!strcmp(word(c, &s), "from")) {
    i.from = word(c, &s);
    word(c, &s); /* import */
  }
  i.rest = s;
  return i;
}

static bool is_outside(const char *name) {
  static const char *const known[] = {"tvm", "math", "typing", "numpy", "__future__", "os", "sys"};
  size_t n = strcspn(name, ".");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i]) == n && !strncmp(known[i], name, n)) return true;
  return false;
}

/* --- the file --------------------------------------------------------------------------------- */

/* "a/b/c.sch" -> "a/b"; "c.sch" -> "." */
static const char *folder_of(Tirc *c, const char *path) {
  const char *slash = strrchr(path, '/');
  return !slash ? "." : slash == path ? "/" : tirc_strndup(c, path, (size_t)(slash - path));
}

/* "a/b" -> "a"; "a" -> "."; "." -> ".." */
static const char *above(Tirc *c, const char *folder) {
  size_t n = strlen(folder);
  if (!strcmp(folder, ".")) return "..";
  if (n >= 2 && !strcmp(folder + n - 2, "..")) return tirc_format(c, "%s/..", folder);
  return folder_of(c, folder);
}

static const char *script_in(Tirc *c, const char *folder, const char *path) {
  if (!strcmp(folder, ".")) return tirc_format(c, "%s.sch", path);
  return tirc_format(c, "%s/%s.sch", strcmp(folder, "/") ? folder : "", path);
}

static const char *find_file(Script *sc, const char *name) {
  Tirc *c = sc->c;
  const char *folder = folder_of(c, sc->loc.file ? sc->loc.file : "");
  char *below = tirc_strdup(c, name);
  for (char *p = below; *p; p++)
    if (*p == '.') *p = '/';
  const char *places[] = {script_in(c, folder, below), script_in(c, above(c, folder), below)};
  if (*name == '.')
    tirc_script_error(sc, "ImportError", "from recipes.tiles import choose",
                      "a script is named without a dot before it");
  bool has_file = sc->loc.file && *sc->loc.file != '<'; /* not standard input, not a text */
  for (int i = 0; has_file && i < 2; i++)
    if (access(places[i], R_OK) == 0) return places[i];
  tirc_script_error(sc, "ImportError",
                    has_file ? tirc_format(c, "it would be %s or %s", places[0], places[1])
                             : "only a script in a file can import others",
                    "there is no script '%s'", name);
}

/* --- running it ------------------------------------------------------------------------------- */

static Env *run_module(Script *sc, const char *path) {
  for (ScriptModule *m = sc->modules; m; m = m->next)
    if (!strcmp(m->path, path)) {
      if (m->env) return m->env;
      tirc_script_error(sc, "ImportError", NULL, "%s imports itself, through others", path);
    }
  ScriptModule *m = tirc_new(sc->c, ScriptModule);
  *m = (ScriptModule){path, NULL, sc->modules};
  sc->modules = m;
  Env *outer = sc->globals, *env = tirc_script_env(sc, NULL);
  Source source = tirc_read_source(sc->c, path);
  SynList body = tirc_parse_syntax(sc->c, &source);
  Frame f = {.sc = sc, .env = env};
  sc->globals = env;
  Trap trap;
  if (TIRC_TRY(sc->c, trap)) {
    tirc_script_predefine(sc);
    tirc_script_outside(sc, tirc_script_exec(&f, &body));
    TIRC_END(sc->c, trap);
    sc->globals = outer;
    return m->env = env;
  }
  sc->globals = outer; /* the script may catch what went wrong, and try again */
  sc->modules = m->next;
  tirc_throw(sc->c);
}

static void take(Frame *f, Env *from, const char *name, const char *as, const char *path) {
  for (int i = 0; i < from->names.n; i++)
    if (from->names.at[i].bound && !strcmp(from->names.at[i].name, name)) {
      tirc_script_set(f->sc, f->env, as, from->names.at[i].value);
      return;
    }
  tirc_script_error(f->sc, "ImportError", NULL, "%s has no '%s'", path, name);
}

static void take_all(Frame *f, Env *from) {
  for (int i = 0; i < from->names.n; i++)
    if (from->names.at[i].bound && *from->names.at[i].name != '_')
      tirc_script_set(f->sc, f->env, from->names.at[i].name, from->names.at[i].value);
}

bool tirc_script_import(Frame *f, const Syn *s) {
  Script *sc = f->sc;
  Import i = read_import(sc->c, s->s ? s->s : "");
  const char *rest = i.rest, *module = i.from ? i.from : word(sc->c, &rest);
  if (is_outside(module)) return false;
  sc->loc = s->loc;
  if (!i.from)
    tirc_script_error(sc, "ImportError", tirc_format(sc->c, "from %s import NAME", module),
                      "names are imported, not whole scripts");
  const char *path = find_file(sc, module);
  Env *env = run_module(sc, path);
  sc->loc = s->loc;
  rest = i.rest;
  for (const char *name = word(sc->c, &rest); *name;) {
    const char *as = name, *next = word(sc->c, &rest);
    if (!strcmp(next, "as")) as = word(sc->c, &rest), next = word(sc->c, &rest);
    if (!strcmp(name, "*"))
      take_all(f, env);
    else
      take(f, env, name, as, path);
    name = next;
  }
  return true;
}
