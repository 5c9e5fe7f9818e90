/* Traces from lists, as JSON gives them: every name is looked up, every argument finds its
 * parameter, and what does not fit is named together with the instruction that it stands in. */
#include "ir/ascii.h"
#include "trace.h"

typedef struct RVName {
  const char *name;
  Value value;
} RVName;

typedef struct Reader {
  Tirc *c;
  Loc loc;
  const char *what;
  int index;        /* of the instruction that is read; -1: none yet */
  const char *kind; /* its kind; NULL: not known yet */
  Trace *trace;
  VEC(RVName) names;
} Reader;

static const char *place_of(const Reader *r) {
  const char *place = r->what;
  if (r->index >= 0) place = tirc_format(r->c, "%s, instruction %d", place, r->index);
  return r->kind ? tirc_format(r->c, "%s (%s)", place, r->kind) : place;
}
#define bad(r, hint, ...)                                                                          \
  tirc_fail((r)->c, (r)->loc, CODE_TRACE, hint, "%s: %s", place_of(r),                             \
            tirc_format((r)->c, __VA_ARGS__))

static const ValueList *list(Reader *r, Value v, const char *message) {
  static const char layout[] =
      "a trace is [instructions, decisions], an instruction [kind, inputs, "
      "attributes, outputs], a decision [instruction's number, value]";
  if (v.kind != VAL_LIST) bad(r, layout, "%s", message);
  return v.u.list;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* What stands for a random variable in the text of a function. */
static const char *rv_text(void *self, const char *name) {
  Reader *r = self;
  for (int i = r->names.n - 1; i >= 0; i--)
    if (!strcmp(r->names.at[i].name, name) && r->names.at[i].value.kind == VAL_INT)
      return tirc_format(r->c, "$%u$", r->names.at[i].value.rv);
  return NULL;
}

/* A lambda's text, in which a name that is none of its parameters may be a random variable's. */
static const char *lambda_text(Reader *r, const char *s) {
  Text t = {.c = r->c};
  const char *body = strchr(s, ':');
  for (const char *at = s; *at;) {
    size_t n = 0;
    while (tirc_is_word(at[n])) n++;
    const char *word = n ? tirc_strndup(r->c, at, n) : NULL;
    const char *rv = word && body && at > body ? rv_text(r, word) : NULL;
    tirc_text_addn(&t, at, rv ? 0 : n ? n : 1);
    if (rv) tirc_text_add(&t, rv);
    at += n ? n : 1;
  }
  return t.at;
}

/* A function, as a lambda or an index map as TVM saves it; other strings stay. */
static Value read_function(Reader *r, Value v, bool values) {
  const size_t n = v.kind == VAL_STR ? strlen(v.u.s) : 0;
  if (n && !strncmp(v.u.s, "lambda", 6)) return tirc_value_python(lambda_text(r, v.u.s));
  if (n < 2 || v.u.s[0] != '{' || v.u.s[n - 1] != '}') return v;
  const NamedVars named = {rv_text, r};
  const char *lambda = tirc_saved_lambda(r->c, tirc_value_of_json(r->c, v.u.s), values, &named);
  if (!lambda) bad(r, NULL, "the saved object is not a known form of index map");
  return tirc_value_python(lambda);
}

/* An input: a name of a random variable, a string in quotes, None, a lambda, a number, a list. */
static Value read_input(Reader *r, Value v, int depth) {
  enum { MAX_DEPTH = 64 };
  if (v.kind == VAL_LIST && depth < MAX_DEPTH) {
    Value out = tirc_value_list(r->c, VAL_LIST, v.u.list->n, v.u.list->at);
    for (int i = 0; i < out.u.list->n; i++)
      out.u.list->at[i] = read_input(r, out.u.list->at[i], depth + 1);
    return out;
  }
  if (v.kind != VAL_STR) return v;
  const char *s = v.u.s;
  const size_t n = strlen(s);
  if (!strcmp(s, "None")) return VALUE_NONE;
  if (n >= 2 && s[0] == '"' && s[n - 1] == '"')
    return tirc_value_str(tirc_strndup(r->c, s + 1, n - 2));
  if (*s == '{' || !strncmp(s, "lambda", 6)) return read_function(r, v, false);
  for (int i = r->names.n - 1; i >= 0; i--)
    if (!strcmp(r->names.at[i].name, s)) return r->names.at[i].value;
  bad(r, "an earlier instruction must have it as an output; write a string with quotes of its own",
      "the random variable \"%s\" is not defined", s);
}

typedef struct Cursor {
  const ValueList *list;
  int at;
  const char *name;
} Cursor;

static bool next(Cursor *from, Value *out) {
  if (from->at == from->list->n) return false;
  *out = from->list->at[from->at++];
  return true;
}

static Value rest(Reader *r, Cursor *from) {
  Value out = tirc_value_list(r->c, VAL_LIST, 0, NULL), v;
  while (next(from, &v)) tirc_value_append(r->c, out, read_input(r, v, 0));
  return out;
}

/* Position and 0 or 1 as ("read", position) or ("write", position). */
static Value read_buffer(Reader *r, Value at, Cursor *attrs) {
  Value which;
  if (at.kind != VAL_INT || !next(attrs, &which) || which.kind != VAL_INT)
    bad(r, NULL, "a buffer must be a position and 0 (read) or 1 (write)");
  Value pair[] = {tirc_value_str(which.u.i ? "write" : "read"), at};
  return tirc_value_list(r->c, VAL_TUPLE, 2, pair);
}

static Value read_attr(Reader *r, const Param *p, Value v, Cursor *attrs) {
  if (p->kind == PARAM_BUFFER) return read_buffer(r, v, attrs);
  if (p->kind == PARAM_BOOL && v.kind == VAL_INT) return tirc_value_bool(v.u.i != 0);
  if (v.kind != VAL_STR) return v;
  if (p->kind == PARAM_PAD_VALUE && *v.u.s != '{') return tirc_value_python(v.u.s);
  const bool values = p->kind == PARAM_PAD_VALUE;
  return values || p->kind == PARAM_INDEX_MAP ? read_function(r, v, values) : v;
}

/* A map to all bounds of a region, as a function that gives a range for each dimension. */
static Value read_ranges(Reader *r, Value v) {
  if (!tirc_value_is_python(v)) return v;
  return tirc_value_python(tirc_format(
      r->c, "lambda *i: [(b[2 * k], b[2 * k + 1]) for b in [(%s)(*i)] for k in range(len(b) // 2)]",
      (const char *)v.u.object));
}

static Value read_argument(Reader *r, const Primitive *of, const Param *p, Cursor *inputs,
                           Cursor *attrs) {
  const bool input = tirc_is_input(of, p);
  Value v;
  if (p->kind == PARAM_LOOPS || p->kind == PARAM_FACTORS) return rest(r, inputs);
  if (next(input ? inputs : attrs, &v)) {
    if (p->kind == PARAM_ACCESS && v.kind == VAL_INT)
      return tirc_value_str(v.u.i ? "write" : "read");
    if (p->kind == PARAM_FUNCTION) return read_ranges(r, read_input(r, v, 0));
    return input ? read_input(r, v, 0) : read_attr(r, p, v, attrs);
  }
  if (p->default_text) return tirc_default_value(r->c, p->default_text);
  bad(r, NULL, "the argument '%s' is missing", p->name);
}

static void require_end(Reader *r, const Cursor *c) {
  if (c->at < c->list->n)
    bad(r, NULL, "there are %d %s, but it takes %d", c->list->n, c->name, c->at);
}

/* --- instructions ----------------------------------------------------------------------------- */

static Value read_output(Reader *r, Value v) {
  static const ValueKind kinds[] = {['b'] = VAL_BLOCK, ['l'] = VAL_LOOP, ['v'] = VAL_INT};
  const unsigned char letter = v.kind == VAL_STR ? (unsigned char)*v.u.s : 0;
  if (!letter) bad(r, NULL, "an output must be the name of a random variable");
  Value out = {.kind = letter < sizeof kinds / sizeof *kinds ? kinds[letter] : VAL_INT,
               .rv = ++r->trace->next_rv};
  RVName named = {v.u.s, out};
  vec_push(r->c, r->names, named);
  return out;
}

/* What does not fit the primitive stays a list: it is an error once it is done again. */
static Value read_outputs(Reader *r, const Primitive *p, const ValueList *names) {
  Value out = tirc_value_list(r->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < names->n; i++) tirc_value_append(r->c, out, read_output(r, names->at[i]));
  const bool listed = p->flags & INST_LISTED;
  return !listed && names->n == 1 ? out.u.list->at[0] : out;
}

static void read_instruction(Reader *r, Value v) {
  static const char four[] = "an instruction is [kind, inputs, attributes, outputs]";
  const ValueList *entry = list(r, v, four);
  if (entry->n != 4 || entry->at[0].kind != VAL_STR) bad(r, NULL, "%s", four);
  r->kind = entry->at[0].u.s;
  const Primitive *p = tirc_instruction_primitive(r->kind);
  if (!p) bad(r, "`tirc help` lists the primitives", "there is no primitive for this instruction");
  Cursor inputs = {list(r, entry->at[1], four), 0, "inputs"};
  Cursor attrs = {list(r, entry->at[2], four), 0, "attributes"};
  const ValueList *outputs = list(r, entry->at[3], four);
  Value *args = tirc_new_array(r->c, Value, p->n_params + 1);
  for (int i = 0; i < p->n_params; i++)
    args[i] = tirc_is_decision(&p->params[i]) ? VALUE_NONE
                                              : read_argument(r, p, &p->params[i], &inputs, &attrs);
  require_end(r, &inputs);
  require_end(r, &attrs);
  Instruction inst = {.p = p, .args = args, .result = read_outputs(r, p, outputs)};
  tirc_trace_append(r->c, r->trace, &inst);
  r->kind = NULL;
}

static void read_decision(Reader *r, Value v) {
  static const char two[] = "a decision is [instruction's number, value]";
  const ValueList *entry = list(r, v, two);
  if (entry->n != 2 || entry->at[0].kind != VAL_INT) bad(r, NULL, "%s", two);
  const int64_t index = entry->at[0].u.i;
  if (index < 0 || index >= r->trace->n || !tirc_instruction_decision(r->trace->at[index]))
    bad(r, NULL, "there is a decision for instruction %lld, which takes none", (long long)index);
  Trace *with = tirc_trace_with_decision(r->c, r->trace, (int)index, entry->at[1]);
  r->trace->at[index] = with->at[index];
}

Trace *tirc_trace_of_value(Tirc *c, Value v, Loc loc, const char *what) {
  Reader r = {.c = c, .loc = loc, .what = what, .index = -1, .trace = tirc_trace_new(c)};
  static const char two[] = "a trace is [instructions, decisions]";
  const ValueList *both = list(&r, v, two);
  if (both->n != 2) bad(&r, NULL, "%s", two);
  const ValueList *instructions = list(&r, both->at[0], two);
  const ValueList *decisions = list(&r, both->at[1], two);
  for (int i = 0; i < instructions->n; i++) {
    r.index = i;
    read_instruction(&r, instructions->at[i]);
  }
  r.index = -1;
  for (int i = 0; i < decisions->n; i++) read_decision(&r, decisions->at[i]);
  return r.trace;
}
