/* Schedules call by call. A schedule holds a script's scope: every entry here is what a line of a
 * schedule script would do, so methods, attributes and messages are those of the script. */
#include "schedule.h"

#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/record/trace.h"

typedef struct Work { /* one call, in and out; each body reads what concerns it */
  tirc_schedule *x;
  const tirc_module *module;
  const tirc_value *self, *args, *values;
  int n, n_keywords;
  const char *name, *const *keywords;
  Source text;
  tirc_value result;
  tirc_schedule *made;
  tirc_module *snapshot;
  char *string;
  const tirc_tree_node *nodes;
} Work;

/* --- a schedule ------------------------------------------------------------------------------- */

static void hand_out_text(void *self, const char *text) {
  const tirc_schedule_options *o = &((tirc_schedule *)self)->options;
  o->print(o->self, text);
}

static void hand_out_call(void *self, Sched *s, const char *call, Loc loc, const Diag *diag) {
  const tirc_schedule_options *o = &((tirc_schedule *)self)->options;
  (void)s;
  o->trace(o->self, call, loc.file, loc.line, diag ? diag->message : NULL);
}

static tirc_schedule *make(Tirc *c, Sched *s, const tirc_schedule_options *options,
                           const Sources *sources) {
  tirc_schedule *x = tirc_new(c, tirc_schedule);
  *x = (tirc_schedule){.c = c, .s = s, .family = x, .sources = *sources, .options = *options};
  tirc_api_tell_warnings(s, &x->options);
  ScriptLimits limits = {.steps = options->max_steps};
  x->sc = tirc_script_open(s, &limits, options->print ? hand_out_text : NULL,
                           options->trace ? hand_out_call : NULL, x);
  return x;
}

static void make_new(Tirc *c, void *self) {
  Work *w = self;
  tirc_schedule_options options = w->x ? w->x->options : (tirc_schedule_options){0};
  Sources sources = {w->module->sources.n > 0, {w->module->sources.at[0]}};
  Sched *s = tirc_api_schedule(c, w->module, &options);
  options.target = NULL; /* the caller's text */
  w->made = make(c, s, &options, &sources);
}

tirc_status tirc_schedule_new(const tirc_module *m, const tirc_schedule_options *options,
                              tirc_schedule **out, tirc_error **error) {
  NEED(m, out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_schedule given = {.options = options ? *options : (tirc_schedule_options){0}};
  Work w = {.x = &given, .module = m};
  tirc_status status = tirc_api_guard(c, make_new, &w, &m->sources, error);
  if (status == TIRC_OK)
    *out = w.made;
  else
    tirc_context_release(c);
  return status;
}

/* Every entry: counts of steps start anew. */
static tirc_status enter(tirc_schedule *x, void (*body)(Tirc *, void *), Work *w,
                         tirc_error **error) {
  w->x = x;
  tirc_script_restart(x->sc, x->place);
  return tirc_api_guard(x->c, body, w, &x->sources, error);
}

static void copy(Tirc *c, void *self) {
  Work *w = self;
  w->made = make(c, tirc_sched_copy(w->x->s), &w->x->options, &w->x->sources);
  w->made->family = w->x->family;
  tirc_context_retain(c);
}

tirc_status tirc_schedule_copy(tirc_schedule *s, tirc_schedule **out, tirc_error **error) {
  NEED(s, out);
  Work w = {0};
  tirc_status status = enter(s, copy, &w, error);
  if (status == TIRC_OK) *out = w.made;
  return status;
}

void tirc_schedule_free(tirc_schedule *s) {
  if (s) tirc_context_release(s->c);
}

static void place(Tirc *c, void *self) {
  Work *w = self;
  Loc *at = &w->x->place;
  if (w->name && (!at->file || strcmp(at->file, w->name))) at->file = tirc_strdup(c, w->name);
  if (!w->name) at->file = NULL;
}

void tirc_schedule_place(tirc_schedule *s, const char *file, int line, int column) {
  if (!s) return;
  Work w = {.x = s, .name = file};
  (void)tirc_api_guard(s->c, place, &w, NULL, NULL);
  s->place.line = file ? line : 0;
  s->place.column = file ? column : 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

static Value schedule_or(tirc_schedule *x, const tirc_value *self) {
  return self ? tirc_value_inward(x, self) : tirc_script_object("Schedule", x->s);
}

static const char *required_name(const Work *w) {
  if (!w->name) tirc_fail(w->x->c, w->x->place, CODE_ARGUMENT, NULL, "the name is missing");
  return tirc_strdup(w->x->c, w->name);
}

static void call(Tirc *c, void *self) {
  Work *w = self;
  tirc_schedule *x = w->x;
  const char *name = required_name(w);
  if (w->n_keywords < 0 || (w->n_keywords && !w->keywords))
    tirc_fail(c, x->place, CODE_ARGUMENT, NULL, "the names of the keyword arguments are missing");
  const char **names = tirc_new_array(c, const char *, w->n_keywords + 1);
  for (int i = 0; i < w->n_keywords; i++)
    names[i] = tirc_strdup(c, tirc_api_name(c, w->keywords[i]));
  Args args = {.n = w->n, .n_keywords = w->n_keywords, .names = names};
  args.at = tirc_values_inward(x, w->n, w->args);
  args.keywords = tirc_values_inward(x, w->n_keywords, w->values);
  const Value of = schedule_or(x, w->self);
  x->sc->loc = x->place;
  const Value callee = strcmp(name, "__call__") == 0 ? of : tirc_script_attribute(x->sc, of, name);
  w->result = tirc_value_outward(x, tirc_script_call(x->sc, callee, &args));
}

tirc_status tirc_schedule_method(tirc_schedule *s, const tirc_value *self, const char *name, int n,
                                 const tirc_value *args, int n_keywords,
                                 const char *const *keywords, const tirc_value *values,
                                 tirc_value *result, tirc_error **error) {
  NEED(s);
  Work w = {.self = self,
            .name = name,
            .n = n,
            .args = args,
            .n_keywords = n_keywords,
            .keywords = keywords,
            .values = values};
  tirc_status status = enter(s, call, &w, error);
  if (status == TIRC_OK && result) *result = w.result;
  return status;
}

tirc_status tirc_schedule_call(tirc_schedule *s, const char *name, int n, const tirc_value *args,
                               int n_keywords, const char *const *keywords,
                               const tirc_value *values, tirc_value *result, tirc_error **error) {
  return tirc_schedule_method(s, NULL, name, n, args, n_keywords, keywords, values, result, error);
}

static void attribute(Tirc *c, void *self) {
  Work *w = self;
  (void)c;
  Value of = schedule_or(w->x, w->self);
  w->result = tirc_value_outward(w->x, tirc_script_attribute(w->x->sc, of, required_name(w)));
}

tirc_status tirc_schedule_attribute(tirc_schedule *s, const tirc_value *of, const char *name,
                                    tirc_value *out, tirc_error **error) {
  NEED(s, out);
  Work w = {.self = of, .name = name};
  tirc_status status = enter(s, attribute, &w, error);
  if (status == TIRC_OK) *out = w.result;
  return status;
}

static void operate(Tirc *c, void *self) {
  static const char *const compares[] = {"<", "<=", ">", ">=", "==", "!="};
  Work *w = self;
  (void)c;
  const char *op = required_name(w);
  bool compare = false;
  Value a = tirc_value_inward(w->x, w->self), b = tirc_value_inward(w->x, w->args);
  for (size_t i = 0; i < sizeof compares / sizeof *compares; i++)
    compare |= strcmp(op, compares[i]) == 0;
  Value r = compare                 ? tirc_script_compare(w->x->sc, op, a, b)
            : strcmp(op, "[]") == 0 ? tirc_script_item(w->x->sc, a, b)
                                    : tirc_script_binary(w->x->sc, op, a, b);
  w->result = tirc_value_outward(w->x, r);
}

tirc_status tirc_schedule_operator(tirc_schedule *s, const char *op, const tirc_value *a,
                                   const tirc_value *b, tirc_value *out, tirc_error **error) {
  NEED(s, a, b, out);
  Work w = {.name = op, .self = a, .args = b};
  tirc_status status = enter(s, operate, &w, error);
  if (status == TIRC_OK) *out = w.result;
  return status;
}

static void text_of(Tirc *c, void *self) {
  Work *w = self;
  Value v = tirc_value_inward(w->x, w->self);
  if (v.kind == VAL_LOOP || v.kind == VAL_BLOCK) v = tirc_script_resolve(w->x->sc, v);
  const char *text = tirc_script_str(w->x->sc, v);
  w->string = tirc_api_copy(c, text, strlen(text));
}

tirc_status tirc_schedule_text(tirc_schedule *s, const tirc_value *v, char **text,
                               tirc_error **error) {
  NEED(s, v, text);
  Work w = {.self = v};
  tirc_status status = enter(s, text_of, &w, error);
  if (status == TIRC_OK) *text = w.string;
  return status;
}

/* --- script text ------------------------------------------------------------------------------ */

static void run(Tirc *c, void *self) {
  Work *w = self;
  Source source = tirc_api_keep_source(c, w->text);
  w->x->sources.at[w->x->sources.n > 1 ? 1 : w->x->sources.n] = source;
  if (w->x->sources.n < 2) w->x->sources.n++;
  tirc_script_run(w->x->sc, &source);
}

tirc_status tirc_schedule_run(tirc_schedule *s, const char *text, size_t length, const char *name,
                              tirc_error **error) {
  NEED(s, LIST(length, text));
  Work w = {.text = {name, text, length}};
  return enter(s, run, &w, error);
}

tirc_status tirc_schedule_run_unchecked(tirc_schedule *s, const char *text, size_t length,
                                        const char *name, tirc_error **error) {
  NEED(s, LIST(length, text));
  s->s->unchecked = true;
  const tirc_status status = tirc_schedule_run(s, text, length, name, error);
  s->s->unchecked = false;
  return status;
}

static void set(Tirc *c, void *self) {
  Work *w = self;
  (void)c;
  tirc_script_set(w->x->sc, w->x->sc->globals, required_name(w), tirc_value_inward(w->x, w->self));
}

tirc_status tirc_schedule_set(tirc_schedule *s, const char *name, const tirc_value *v,
                              tirc_error **error) {
  NEED(s, v);
  Work w = {.name = name, .self = v};
  return enter(s, set, &w, error);
}

/* --- what it is now --------------------------------------------------------------------------- */

static void snapshot(Tirc *c, void *self) {
  Work *w = self;
  tirc_context_depend(c, w->x->c);
  w->snapshot = tirc_api_module(c, w->x->s->mod, &w->x->sources);
  w->snapshot->trace = tirc_trace_copy(c, w->x->s->trace);
  w->snapshot->intrins = w->x->s->intrins;
}

tirc_status tirc_schedule_module(tirc_schedule *s, tirc_module **out, tirc_error **error) {
  NEED(s, out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  Work w = {.x = s};
  tirc_status status = tirc_api_guard(c, snapshot, &w, &s->sources, error);
  if (status == TIRC_OK)
    *out = w.snapshot;
  else
    tirc_context_release(c);
  return status;
}

typedef struct Tree {
  tirc_schedule *x;
  PtrMap numbers; /* SRef -> its number + 1 */
  VEC(tirc_tree_node) nodes;
} Tree;

static int64_t instances(const Block *b) {
  int64_t n = 1, extent;
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_const_int(b->iters[i].dom.extent, &extent) || __builtin_mul_overflow(n, extent, &n))
      return -1;
  return n;
}

static bool add_node(Visitor *v, Stmt s) {
  Tree *t = v->self;
  SRef *sref = tirc_sref_find(t->x->s, s);
  if (!sref) return true;
  tirc_tree_node node = {.parent = -1, .is_block = s->kind == STMT_BLOCK, .extent = -1};
  if (sref->parent) node.parent = (int)(intptr_t)tirc_map_get(&t->numbers, sref->parent) - 1;
  if (node.parent >= 0) node.depth = t->nodes.at[node.parent].depth + 1;
  if (node.is_block) {
    node.name = s->u.block.name;
    node.kind = "block";
    node.extent = instances(&s->u.block);
    node.handle = tirc_value_outward(t->x, tirc_value_block(s->u.block.id));
  } else {
    const For *loop = &s->u.loop;
    node.name = loop->var->u.s;
    node.kind = tirc_loop_kind_name(loop->kind);
    if (!tirc_const_int(loop->extent, &node.extent)) node.extent = -1;
    node.extent_text = tirc_print_expr(t->x->c, loop->extent);
    node.handle = tirc_value_outward(t->x, tirc_value_loop(loop->var));
  }
  vec_push(t->x->c, t->nodes, node);
  tirc_map_set(t->x->c, &t->numbers, sref, (void *)(intptr_t)t->nodes.n);
  return true;
}

static void tree(Tirc *c, void *self) {
  Work *w = self;
  Tree t = {.x = w->x};
  Visitor v = {.stmt = add_node, .self = &t};
  tirc_visit_stmt(&v,
                  tirc_api_func(c, w->x->s->mod, w->name ? w->name : w->x->s->work_on, NULL)->body);
  w->n = t.nodes.n;
  w->nodes = t.nodes.at;
}

tirc_status tirc_schedule_tree(tirc_schedule *s, const char *func, int *n,
                               const tirc_tree_node **nodes, tirc_error **error) {
  NEED(s, n, nodes);
  Work w = {.name = func};
  tirc_status status = enter(s, tree, &w, error);
  if (status != TIRC_OK) return status;
  *n = w.n;
  *nodes = w.nodes;
  return status;
}
