/* `from recipes.tiles import choose, pack`: the names of another script, which is run once for
 * itself when it is first imported. It is recipes/tiles.sch in the folder of the script that
 * imports it, or in the folder above that one, or else an embedded library of rules; nothing else
 * can be reached. `target` is the table that is embedded for the schedule's target, unless there is
 * a target.sch beside the user's own rules, or the target is this machine, which was calibrated.
 * What scripts for the reference import (tvm, math ...) are no files: of tvm and math a name is
 * bound to what there is under it (namespaces.c), and tvm.tir.tensor_intrin.cuda is an embedded
 * library; for what is not offered here the import passes, since many scripts never use what they
 * import, and the first use says so. */
#include "calibration.h"
#include "interp.h"
#include "library.h"
#include "passes/record/trace.h"

#include <unistd.h>

typedef struct Import { /* what the statement says */
  const char *from;     /* NULL: import NAME */
  const char *rest;     /* the text behind "import" */
} Import;

typedef struct ScriptModule ScriptModule;
struct ScriptModule {
  const char *path;
  SynList body;
  Env *env; /* NULL while it is being run */
  ScriptModule *next;
};

static bool is_name(char ch) {
  return ch == '_' || ch == '.' || (ch & 0x80) || (ch >= '0' && ch <= '9') ||
         (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* The next word, or "" at the end. */
static const char *word(Tirc *c, const char **s) {
  for (; **s && !is_name(**s) && **s != '*'; (*s)++)
    if (**s == '#') *s += strcspn(*s, "\n") - 1; /* between the names in parentheses */
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

/* --- what is no file -------------------------------------------------------------------------- */

static const char *first_part(Tirc *c, const char *path) {
  return tirc_strndup(c, path, strcspn(path, "."));
}

static bool is_outside(Tirc *c, const char *path) {
  static const char *const known[] = {"tvm",        "math", "typing",      "numpy",
                                      "__future__", "os",   "sys",         "functools",
                                      "itertools",  "re",   "dataclasses", "torch"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i], first_part(c, path))) return true;
  return false;
}

/* What tvm.tir.schedule leads to; false when there is no such thing here. */
static bool resolve(Script *sc, const char *path, Value *out) {
  const char *first = first_part(sc->c, path);
  if (strcmp(first, "tvm") && strcmp(first, "math")) return false;
  *out = tirc_script_namespace(*first == 't' ? "tir" : "math");
  for (path += strlen(first); *path == '.';) {
    const char *part = first_part(sc->c, ++path);
    bool leads_on = tirc_script_is(*out, "namespace") || tirc_script_is(*out, "type");
    if (!leads_on || !tirc_script_namespace_member(sc, out->u.object, part, out)) return false;
    path += strlen(part);
  }
  return true;
}

static void import_outside(Frame *f, const char *path, const char *as) {
  Script *sc = f->sc;
  Value v;
  if (resolve(sc, path, &v))
    tirc_script_set(sc, f->env, as, v);
  else
    vec_push(sc->c, sc->absent, ((Absent){as, path}));
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

#define TABLE "target" /* what the rules take as measured of the schedule's target */

/* What was measured on this machine, if code is made for it and there is such a table. */
static const char *calibrated_table(Script *sc) {
  Sched *s = sc->sched;
  if (s->gpu || !s->target->cores) return NULL;
  if (!sc->calibration) {
    Calibration *k = tirc_new(sc->c, Calibration);
    *k = tirc_calibration_find(sc->c, s->target);
    sc->calibration = k;
    const Warning w = {CODE_CALIBRATION, {0}, k->problem};
    if (k->problem && s->strict) tirc_raise_warning(sc->c, w);
    if (k->problem && s->warn) s->warn(s->warn_self, w);
  }
  return sc->calibration->date ? sc->calibration->file : NULL;
}

/* The table beside the user's own rules, or that of `tirc calibrate`, or the embedded one. *root:
 * as below. */
static const char *table_of(Script *sc, const char **root) {
  Tirc *c = sc->c;
  const char *folder = sc->rules ? folder_of(c, sc->rules) : NULL;
  const char *own = folder ? script_in(c, folder, TABLE) : NULL;
  *root = NULL;
  if (own && access(own, R_OK) == 0) return *root = folder, own;
  const char *calibrated = calibrated_table(sc);
  if (calibrated) return calibrated;
  const RuleLibrary *l = tirc_rule_table(c, sc->sched->target, sc->sched->gpu);
  return l ? tirc_rule_library_path(c, l->name) : NULL;
}

void tirc_script_look_for_table(Script *sc) {
  const char *root;
  (void)table_of(sc, &root);
}

/* "a.b" -> "a/b" */
static const char *path_of(Tirc *c, const char *name) {
  char *path = tirc_strdup(c, name);
  for (char *p = path; *p; p++)
    if (*p == '.') *p = '/';
  return path;
}

void tirc_script_places(Tirc *c, const char *script, const char *name, const char *places[2]) {
  const char *folder = folder_of(c, script), *below = path_of(c, name);
  places[0] = script_in(c, folder, below);
  places[1] = script_in(c, above(c, folder), below);
}

/* *root: the folder that the file may not lead out of; NULL for an embedded library. */
static const char *find_file(Script *sc, const char *name, const char **root) {
  Tirc *c = sc->c;
  const char *folder = folder_of(c, sc->loc.file ? sc->loc.file : "");
  const char *roots[] = {folder, above(c, folder)};
  const char *below = path_of(c, name), *places[2];
  tirc_script_places(c, sc->loc.file ? sc->loc.file : "", name, places);
  if (*name == '.')
    tirc_script_error(sc, "ImportError", "from recipes.tiles import choose",
                      "the name of a script cannot begin with a dot");
  bool has_file = sc->loc.file && *sc->loc.file != '<'; /* not standard input, not a text */
  for (int i = 0; has_file && i < 2; i++)
    if (access(places[i], R_OK) == 0) return *root = roots[i], places[i];
  if (!strcmp(name, TABLE)) return table_of(sc, root);
  *root = NULL;
  const char *embedded = tirc_library_named(c, sc->loc.file, below);
  if (embedded) return embedded;
  const char *others = has_file ? tirc_format(c, "; it would be %s or %s", places[0], places[1])
                                : "; only a script in a file can import others";
  tirc_script_error(sc, "ImportError", tirc_format(c, SCRIPT_OFFERS "%s", others),
                    "there is no script '%s'; the only modules are tvm and math", name);
}

/* --- data ------------------------------------------------------------------------------------- */

static bool leads_out(const char *path) {
  if (*path == '/') return true;
  for (const char *p = path; p; p = strchr(p, '/')) {
    p += *p == '/';
    if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2])) return true;
  }
  return false;
}

/* What a script names is read if it is in its folder, once links are followed. */
static Source read_inside(Script *sc, const char *type, const char *root, const char *path) {
  enum { MOST = 16 << 20 };
  Source source = {0};
  switch (tirc_read_inside(sc->c, root, path, MOST, &source)) {
  case FILE_FINE: return source;
  case FILE_LARGE: tirc_script_error(sc, type, NULL, "'%s' has more than 16 MB", path);
  case FILE_OUTSIDE:
    tirc_script_error(sc, type, "a script cannot open files outside of its folder",
                      "'%s' is a link to a place outside of the folder '%s'", path, root);
  case FILE_ABSENT: break;
  }
  tirc_script_error(sc, type, "it must be a regular file that you may read",
                    "there is no file '%s'", path);
}

Value tirc_script_read_json(Script *sc, Value self, const Args *a) {
  Tirc *c = sc->c;
  const char *name = a->at[0].kind == VAL_STR ? a->at[0].u.s : NULL;
  const size_t n = name ? strlen(name) : 0;
  (void)self;
  if (!name)
    tirc_script_error(sc, "TypeError", "read_json(\"knobs.json\")",
                      "read_json() needs the name of a file, not %s",
                      tirc_script_a_type(sc, a->at[0]));
  if (n < 5 || strcmp(name + n - 5, ".json") || leads_out(name))
    tirc_script_error(sc, "ValueError", "read_json(\"knobs.json\")",
                      "scripts can read only .json files in their own folder, not '%s'", name);
  if (!sc->loc.file || *sc->loc.file == '<')
    tirc_script_error(sc, "OSError", NULL, "only a script that is a file can read other files");
  const char *folder = folder_of(c, sc->loc.file);
  const char *path = strcmp(folder, ".") ? tirc_format(c, "%s/%s", folder, name) : name;
  const Source source = read_inside(sc, "OSError", folder, path);
  tirc_script_tick(sc, (int64_t)source.length / 16);
  return tirc_value_of_json_file(c, source.name, source.text, source.length);
}

/* --- running it ------------------------------------------------------------------------------- */

static SynList syntax_of(Script *sc, const char *root, const char *path) {
  for (const ScriptModule *m = sc->known; m; m = m->next)
    if (!strcmp(m->path, path)) return m->body;
  const Source *embedded = tirc_library_source(sc->c, path);
  const Source source = embedded ? *embedded
                        : root   ? read_inside(sc, "ImportError", root, path)
                                 : tirc_read_source(sc->c, path);
  return embedded ? tirc_parse_outline(sc->c, &source) : tirc_parse_syntax(sc->c, &source);
}

static bool is_known(const ScriptModule *known, const char *path) {
  while (known && strcmp(known->path, path)) known = known->next;
  return known != NULL;
}

struct ScriptModule *tirc_script_keep_libraries(Tirc *c, struct ScriptModule *known,
                                                const Script *sc) {
  for (const ScriptModule *m = sc->modules; m; m = m->next) {
    if (is_known(known, m->path)) continue;
    const char *path = tirc_strdup(c, m->path); /* the syntax says where it stands by this text */
    const Source *embedded = tirc_library_source(c, path);
    if (!embedded) continue;
    ScriptModule *kept = tirc_new(c, ScriptModule);
    *kept = (ScriptModule){path, tirc_parse_syntax(c, embedded), NULL, known};
    known = kept;
  }
  return known;
}

/* root: see find_file; NULL for a file that the user named, too. */
static Env *module_in(Script *sc, const char *root, const char *path) {
  for (ScriptModule *m = sc->modules; m; m = m->next)
    if (!strcmp(m->path, path)) {
      if (m->env) return m->env;
      tirc_script_error(sc, "ImportError", NULL, "%s imports itself through other scripts", path);
    }
  ScriptModule *m = tirc_new(sc->c, ScriptModule);
  *m = (ScriptModule){path, syntax_of(sc, root, path), NULL, sc->modules};
  sc->modules = m;
  Env *outer = sc->globals, *env = tirc_script_env(sc, NULL);
  Frame f = {.sc = sc, .env = env};
  sc->globals = env;
  Trap trap;
  if (TIRC_TRY(sc->c, trap)) {
    tirc_script_predefine(sc);
    tirc_script_outside(sc, tirc_script_exec(&f, &m->body));
    TIRC_END(sc->c, trap);
    sc->globals = outer;
    return m->env = env;
  }
  sc->globals = outer; /* the script may catch what went wrong, and try again */
  sc->modules = m->next;
  tirc_throw(sc->c);
}

Env *tirc_script_module(Script *sc, const char *path) { return module_in(sc, NULL, path); }

static void take(Frame *f, Env *from, const char *name, const char *as, const char *path) {
  const EnvEntry *e = tirc_strmap_get(&from->names, name);
  if (e && e->bound) {
    if (!tirc_script_is_given(f->env, as)) tirc_script_set(f->sc, f->env, as, e->value);
    return;
  }
  tirc_script_error(f->sc, "ImportError", NULL, "%s has no '%s'", path, name);
}

static void take_all(Frame *f, Env *from) {
  for (int i = 0; i < from->names.n; i++) {
    const EnvEntry *e = from->names.at[i].value;
    if (e->bound && *e->name != '_' && !tirc_script_is_given(f->env, e->name))
      tirc_script_set(f->sc, f->env, e->name, e->value);
  }
}

/* One name of the statement: what stands before `as` and what it is called here. */
typedef struct Imported {
  const char *name, *as;
} Imported;

static bool next_name(Tirc *c, const char **rest, Imported *out) {
  out->name = out->as = word(c, rest);
  const char *ahead = *rest;
  if (!strcmp(word(c, &ahead), "as")) {
    out->as = word(c, &ahead);
    *rest = ahead;
  }
  return *out->name != 0;
}

/* import tvm, math as m */
static void import_modules(Frame *f, const char *rest) {
  Script *sc = f->sc;
  const char *root;
  for (Imported i; next_name(sc->c, &rest, &i);) {
    const bool renamed = i.as != i.name;
    if (is_outside(sc->c, i.name)) {
      const char *first = first_part(sc->c, i.name);
      import_outside(f, renamed ? i.name : first, renamed ? i.as : first);
      continue;
    }
    find_file(sc, i.name, &root);
    tirc_script_error(sc, "ImportError", tirc_format(sc->c, "from %s import NAME", i.name),
                      "import names from a script, not the whole script");
  }
}

static void import_from_outside(Frame *f, const char *module, const char *rest) {
  Tirc *c = f->sc->c;
  for (Imported i; next_name(c, &rest, &i);) {
    if (!strcmp(i.name, "*"))
      tirc_script_error(f->sc, "ImportError", tirc_format(c, "from %s import NAME, NAME", module),
                        "names of %s must be imported one by one", module);
    import_outside(f, tirc_format(c, "%s.%s", module, i.name), i.as);
  }
}

/* The embedded library that a module of the reference is here: it has the module's name behind
 * tvm.tir or, today, tvm.s_tir. NULL: none. */
static const char *library_for(Script *sc, const char *module) {
  static const char *const packages[] = {"tvm.tir.", "tvm.s_tir."};
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
    const size_t n = strlen(packages[i]);
    if (!strncmp(module, packages[i], n))
      return tirc_library_named(sc->c, NULL, path_of(sc->c, module + n));
  }
  return NULL;
}

void tirc_script_import(Frame *f, const Syn *s) {
  Script *sc = f->sc;
  Import statement = read_import(sc->c, s->s ? s->s : "");
  const char *from = statement.from, *rest = statement.rest;
  sc->loc = s->loc;
  if (!from) return import_modules(f, rest);
  const char *root = NULL, *path = library_for(sc, from);
  if (!path && is_outside(sc->c, from)) return import_from_outside(f, from, rest);
  if (!path) path = find_file(sc, from, &root);
  Env *env = module_in(sc, root, path);
  sc->loc = s->loc;
  for (Imported i; next_name(sc->c, &rest, &i);) {
    if (!strcmp(i.name, "*"))
      take_all(f, env);
    else
      take(f, env, i.name, i.as, path);
  }
}
