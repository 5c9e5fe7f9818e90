/* Calls of T.* functions: one table, made of one part per kind of function, and one way to sort
 * arguments into parameters. */
#include "reader.h"

static const Function *const tables[] = {
    tirc_axis_functions, tirc_block_functions,  tirc_buffer_functions, tirc_scope_functions,
    tirc_loop_functions, tirc_opaque_functions, tirc_value_functions};
enum { N_TABLES = sizeof tables / sizeof *tables };

const Function *tirc_reader_function(int i) {
  for (int t = 0; t < N_TABLES; t++)
    for (const Function *f = tables[t]; f->name; f++)
      if (i-- == 0) return f;
  return NULL;
}

static const Function *find_function(const char *path) {
  if (strncmp(path, "T.", 2) != 0) return NULL;
  for (int t = 0; t < N_TABLES; t++)
    for (const Function *f = tables[t]; f->name; f++)
      if (strcmp(f->name, path + 2) == 0) return f;
  return NULL;
}

const Function *tirc_called_function(Reader *r, const Syn *node, const char **path) {
  *path = node->kind == SYN_CALL ? tirc_names_path(r, node->a) : NULL;
  return *path ? find_function(*path) : NULL;
}

/* --- arguments -------------------------------------------------------------------------------- */

typedef struct Signature {
  int n, n_places; /* parameters; those before the *, which an argument's place can mean */
  const char *names[CALL_MAX_ARGS];
  int lengths[CALL_MAX_ARGS];
  bool optional[CALL_MAX_ARGS];
  bool rest;
} Signature;

static Signature parse_signature(const char *s) {
  Signature out = {0};
  while (*s) {
    while (*s == ' ') s++;
    if (*s == '*') {
      out.rest = true;
      out.n_places = out.n;
      s++;
      continue;
    }
    const char *from = s;
    while (*s && *s != ' ' && *s != '?') s++;
    if (s == from) break;
    out.names[out.n] = from;
    out.lengths[out.n] = (int)(s - from);
    out.optional[out.n++] = *s == '?';
    if (*s == '?') s++;
  }
  if (!out.rest) out.n_places = out.n;
  return out;
}

static int find_parameter(const Signature *sig, const char *name) {
  name = tirc_word_known(WORD_KEYWORD, name);
  for (int i = 0; i < sig->n; i++)
    if ((int)strlen(name) == sig->lengths[i] &&
        strncmp(name, sig->names[i], (size_t)sig->lengths[i]) == 0)
      return i;
  return -1;
}

/* The reference takes the type of a result ahead of the other arguments, wherever it is named:
 * T.reinterpret(x, dtype="int32"). */
static bool names_dtype_first(const Signature *sig, const Syn *node) {
  if (find_parameter(sig, "dtype") != 0) return false;
  for (int i = 0; i < node->kids.n; i++) {
    const Syn *arg = node->kids.at[i];
    if (arg->kind == SYN_KEYWORD && strcmp(arg->s, "dtype") == 0) return true;
  }
  return false;
}

static void unknown_keyword(Reader *r, const Syn *arg, const char *name, const Signature *sig) {
  const char *names[CALL_MAX_ARGS];
  for (int i = 0; i < sig->n; i++)
    names[i] = tirc_strndup(r->c, sig->names[i], (size_t)sig->lengths[i]);
  READ_FAIL(r, arg, CODE_ARGUMENT, tirc_nearest(r->c, arg->s, sig->n, names),
            "%s has no parameter '%s'", name, arg->s);
}

static bool has_star(const Syn *node) {
  for (int i = 0; i < node->kids.n; i++)
    if (node->kids.at[i]->kind == SYN_STAR) return true;
  return false;
}

/* *A.shape as A.shape[0], A.shape[1] ... */
static const Syn *without_stars(Reader *r, const Syn *node) {
  VEC(Syn *) kids = {0};
  if (!has_star(node)) return node;
  Syn *to = tirc_copy(r->c, node, 1);
  for (int i = 0; i < node->kids.n; i++) {
    Syn *arg = node->kids.at[i];
    const bool is_star = arg->kind == SYN_STAR;
    const PyValue v = is_star ? tirc_read_value(r, arg->a) : PY_VALUE_NONE;
    if (!is_star) vec_push(r->c, kids, arg);
    if (is_star && v.kind != PY_TUPLE)
      READ_FAIL(r, arg, CODE_TYPE, "write the arguments out", "%s has no parts for arguments",
                tirc_py_describe(r, v));
    for (int k = 0; is_star && k < v.u.list.n; k++) {
      Syn *index = tirc_copy(r->c, arg, 1), *part = tirc_copy(r->c, arg, 1);
      index->kind = SYN_INT;
      index->i = k;
      part->kind = SYN_SUBSCRIPT;
      part->kids = (SynList){1, tirc_copy(r->c, &index, 1)};
      vec_push(r->c, kids, part);
    }
  }
  to->kids = (SynList){kids.n, kids.at};
  return to;
}

void tirc_bind_call(Reader *r, const Syn *node, const char *name, const char *signature,
                    Call *call) {
  Signature sig = parse_signature(signature);
  node = without_stars(r, node);
  *call = (Call){.node = node, .name = name};
  int positional = names_dtype_first(&sig, node);
  for (int i = 0; i < node->kids.n; i++) {
    const Syn *arg = node->kids.at[i];
    if (arg->kind == SYN_KEYWORD) {
      int k = find_parameter(&sig, arg->s);
      if (k < 0) unknown_keyword(r, arg, name, &sig);
      if (call->args[k])
        READ_FAIL(r, arg, CODE_ARGUMENT, NULL, "%s gets the argument '%s' twice", name, arg->s);
      call->args[k] = arg->a;
    } else if (arg->kind == SYN_DOUBLESTAR) {
      READ_FAIL(r, arg, CODE_UNSUPPORTED, "write the arguments out",
                "programs cannot have arguments with two stars");
    } else if (positional < sig.n_places) {
      call->args[positional++] = arg;
    } else if (sig.rest) {
      if (!call->rest) call->rest = &node->kids.at[i];
      call->n_rest++;
    } else {
      READ_FAIL(r, arg, CODE_ARGUMENT, NULL, "%s takes at most %d argument%s", name, sig.n_places,
                sig.n_places == 1 ? "" : "s");
    }
  }
  for (int i = 0; i < sig.n; i++)
    if (!call->args[i] && !sig.optional[i])
      READ_FAIL(r, node, CODE_ARGUMENT, NULL, "%s needs the argument '%.*s'", name, sig.lengths[i],
                sig.names[i]);
}

/* --- calls ------------------------------------------------------------------------------------ */

static const char *place_of(Reader *r, int where, const char *path) {
  static const struct {
    int bit;
    const char *text;
  } places[] = {{IN_FOR, "use it in the head of a for loop: 'for i in ...'"},
                {IN_WITH, "write 'with' before it: 'with %s(...):'"},
                {IN_STATEMENT, "write it on a line of its own"},
                {IN_SCOPE, "write it on a line of its own, or after 'with'"},
                {IN_VALUE, "it has a value: use it in an expression"}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (where & places[i].bit) return tirc_format(r->c, places[i].text, path);
  return NULL;
}

/* The last part of a function's name: "remap" of "axis.remap". */
static const char *last_part(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? dot + 1 : name;
}

const char *tirc_function_suggest(Reader *r, const char *name, bool same) {
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int t = 0; t < N_TABLES; t++)
    for (const Function *f = tables[t]; f->name; f++) {
      if (!same) tirc_offer_name(&best, f->name, strlen(f->name));
      const size_t first = strcspn(f->name, ".");
      const bool begins =
          f->name[first] && first == best.n_wanted && strncmp(f->name, name, first) == 0;
      if (begins) return tirc_format(r->c, "did you mean 'T.%s'?", name);
      if (strcmp(last_part(f->name), name) == 0)
        return tirc_format(r->c, "did you mean 'T.%s'?", f->name);
    }
  const char *hint = tirc_suggest_name(&best, "T.", NULL);
  return hint ? tirc_strdup(r->c, hint) : NULL;
}

static _Noreturn void unknown_function(Reader *r, const Syn *node, const char *path) {
  if (strncmp(path, "T.", 2) == 0)
    READ_FAIL(r, node, CODE_NAME, tirc_function_suggest(r, path + 2, false),
              "there is no function %s", path);
  READ_FAIL(r, node, CODE_UNSUPPORTED, "programs can use only tvm.script.tir, as T",
            "%s is not part of the language of programs", path);
}

PyValue tirc_read_call(Reader *r, const Syn *node, int where) {
  const char *path;
  const Function *f = tirc_called_function(r, node, &path);
  if (!f) unknown_function(r, node->a, path);
  if (!(f->where & where))
    READ_FAIL(r, node, CODE_SYNTAX, place_of(r, f->where, path), "%s cannot be used here", path);
  Call call;
  tirc_bind_call(r, node, path, f->signature, &call);
  call.function = f;
  return f->read(r, &call);
}
