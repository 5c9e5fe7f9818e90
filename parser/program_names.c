/* Names: what is bound where, module aliases, and the nearest name for a misspelt one. Scopes undo
 * their bindings when they close, so looking up a name never walks a chain of scopes. */
#include "ir/ascii.h"
#include "reader.h"

typedef struct Binding {
  struct Binding *shadowed;
  PyValue value;
  int scope; /* depth of the scope that holds it */
} Binding;
struct Symbol {
  const char *name;
  Binding *top; /* NULL: known once, unbound now */
};

static Symbol *intern(Reader *r, const char *name) {
  void **at = tirc_strmap_at(r->c, &r->names.known, name);
  Symbol *s = *at;
  if (s) return s;
  *at = s = tirc_new(r->c, Symbol);
  s->name = name;
  return s;
}

void tirc_names_open(Reader *r) { vec_push(r->c, r->names.scopes, r->names.bound.n); }

void tirc_names_close(Reader *r) {
  Names *t = &r->names;
  int from = t->scopes.at[--t->scopes.n];
  while (t->bound.n > from) {
    Symbol *s = t->bound.at[--t->bound.n];
    s->top = s->top->shadowed;
  }
}

void tirc_names_bind(Reader *r, const Syn *at, const char *name, PyValue v, bool again) {
  Symbol *s = intern(r, name);
  int scope = r->names.scopes.n;
  if (s->top && s->top->scope == scope) {
    if (!again)
      READ_FAIL(r, at, CODE_NAME, "use another name for the second one",
                "'%s' is already defined in this scope", name);
    s->top->value = v;
    return;
  }
  Binding *b = tirc_new(r->c, Binding);
  *b = (Binding){s->top, v, scope};
  s->top = b;
  vec_push(r->c, r->names.bound, s);
}

const PyValue *tirc_names_find(Reader *r, const char *name) {
  Symbol *s = tirc_strmap_get(&r->names.known, name);
  return s && s->top ? &s->top->value : NULL;
}

HiddenNames tirc_names_hide(Reader *r, int from) {
  Names *t = &r->names;
  HiddenNames h = {t->bound.n - from, NULL, NULL};
  h.symbols = tirc_copy(r->c, t->bound.at + from, h.n);
  h.tops = tirc_new_array(r->c, struct Binding *, h.n);
  for (int i = h.n - 1; i >= 0; i--) {
    h.tops[i] = h.symbols[i]->top;
    h.symbols[i]->top = h.symbols[i]->top->shadowed;
  }
  t->bound.n = from;
  return h;
}

void tirc_names_show(Reader *r, HiddenNames hidden) {
  for (int i = 0; i < hidden.n; i++) {
    hidden.symbols[i]->top = hidden.tops[i];
    vec_push(r->c, r->names.bound, hidden.symbols[i]);
  }
}

/* --- near misses ------------------------------------------------------------------------------ */

const char *tirc_names_suggest(Reader *r, const char *name) {
  DType t;
  if (tirc_dtype_parse(name, &t) && t.code != TYPE_HANDLE)
    return tirc_format(r->c, "a type is written \"%s\" or T.%s", name, name);
  const char *function = tirc_function_suggest(r, name, true);
  if (function) return function;
  const StrMap *known = &r->names.known;
  const char **all = tirc_new_array(r->c, const char *, known->n + 1);
  int n = 0;
  for (int i = 0; i < known->n; i++)
    if (((const Symbol *)known->at[i].value)->top) all[n++] = known->at[i].key;
  return tirc_nearest(r->c, name, n, all);
}

/* --- modules ---------------------------------------------------------------------------------- */

/* The short names that the rest of the reader knows. */
static const char *canonical(Tirc *c, const char *path) {
  static const char *const roots[][2] = {
      {"tvm.script.tir", "T"},   {"tvm.tir", "T"},   {"tvm.script.parser.tir", "T"},
      {"tvm.script.tirx", "T"},  {"tvm.tirx", "T"},  {"tvm.script.parser.tirx", "T"},
      {"tvm.script.ir", "I"},    {"tvm.ir", "I"},    {"tvm.script.parser.ir", "I"},
      {"tvm.script.relax", "R"}, {"tvm.relax", "R"}, {"tvm.script.parser.relax", "R"}};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    size_t n = strlen(roots[i][0]);
    if (strncmp(path, roots[i][0], n) == 0 && (path[n] == '.' || !path[n]))
      return tirc_format(c, "%s%s", roots[i][1], path + n);
  }
  if (strcmp(path, "tvm.script.ir_module") == 0) return "I.ir_module";
  return path;
}

static bool is_word(char ch) { return tirc_is_word(ch) || ch == '.'; }

/* The next word of an import statement; NULL at its end. */
static const char *word(Tirc *c, const char **s) {
  while (**s && !is_word(**s)) (*s)++;
  const char *from = *s;
  while (is_word(**s)) (*s)++;
  return *s > from ? tirc_strndup(c, from, (size_t)(*s - from)) : NULL;
}

static void bind_module(Reader *r, const Syn *at, const char *name, const char *path) {
  PyValue v = {.kind = PY_NAMESPACE, .u.s = canonical(r->c, path)};
  const char *last = strrchr(path, '.');
  if (strcmp(v.u.s, "T") == 0 && last) (void)tirc_dialect_parse(last + 1, &r->imported);
  tirc_names_bind(r, at, name, v, true);
}

void tirc_names_import(Reader *r, const Syn *import) {
  const char *s = import->s, *from = NULL;
  bool is_from = strcmp(word(r->c, &s), "from") == 0;
  if (is_from) {
    from = word(r->c, &s);
    word(r->c, &s); /* import */
  }
  const char *next = word(r->c, &s);
  while (next) {
    const char *name = next, *path = from ? tirc_format(r->c, "%s.%s", from, name) : name;
    next = word(r->c, &s);
    if (next && strcmp(next, "as") == 0) {
      name = word(r->c, &s);
      next = word(r->c, &s);
    } else if (!is_from && strchr(name, '.')) {
      name = path = tirc_strndup(r->c, name, (size_t)(strchr(name, '.') - name));
    }
    bind_module(r, import, name, path);
  }
}

static bool spell_path(Reader *r, const Syn *s, Text *out) {
  if (s->kind == SYN_NAME) {
    const PyValue *v = tirc_names_find(r, s->s);
    if (!v || v->kind != PY_NAMESPACE) return false;
    tirc_text_add(out, v->u.s);
    return true;
  }
  if (s->kind != SYN_ATTRIBUTE || !spell_path(r, s->a, out)) return false;
  tirc_text_addf(out, ".%s", s->s);
  return true;
}

const char *tirc_names_path(Reader *r, const Syn *s) {
  Text t = {.c = r->c};
  return spell_path(r, s, &t) ? canonical(r->c, t.at) : NULL;
}
