/* The cost of a program on an array of processing elements, for those outside. */
#include "api.h"

#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"
#include "passes/record/trace.h"
#include "passes/schedule/schedule.h"
#include "runtime/spatial/spatial.h"

typedef struct Spatial {
  const tirc_module *m;
  const char *func, *spec;
  tirc_spatial_options o;
  const char *log, *log_name, *dataflow;
  size_t n;
  int n_args;
  const tirc_argument *args;
  int64_t max_steps;
  char *json;
} Spatial;

/* --- what may run at one time ----------------------------------------------------------------- */

typedef struct BoundLoop {
  Expr loop;
  const char *axis;
  bool noted; /* by an annotation */
} BoundLoop;

typedef struct Binding {
  Tirc *c;
  VEC(BoundLoop) loops;
} Binding;

static bool see_loop(Visitor *v, Stmt s) {
  Binding *b = v->self;
  if (s->kind != STMT_FOR) return true;
  const int axis = tirc_pe_axis(s->u.loop.axis);
  const Expr note = tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PE));
  const bool fits =
      note && note->op == OP_STRING && strlen(note->u.s) == 1 && strchr("xyz", note->u.s[0]);
  if (note && !fits)
    tirc_fail(b->c, tirc_place_of(s), CODE_PE_ARRAY, "sch.annotate(loop, \"pe\", \"x\")",
              "the annotation \"pe\" of loop %s is not one of \"x\", \"y\", \"z\"",
              s->u.loop.var->u.s);
  if (note)
    vec_push(b->c, b->loops,
             ((BoundLoop){s->u.loop.var, tirc_format(b->c, "pe.%s", note->u.s), true}));
  else if (axis >= 0)
    vec_push(b->c, b->loops, ((BoundLoop){s->u.loop.var, s->u.loop.thread, false}));
  return true;
}

static void call(Sched *s, const char *primitive, Expr loop, const char *text) {
  const Value at[] = {tirc_value_loop(loop), tirc_value_str(text)};
  const Args args = {.n = 2, .at = at};
  (void)tirc_sched_call(s, tirc_find_primitive(primitive), (Loc){0}, &args);
}

/* Bound anew, the loops are asked what any bind asks: elements that run at one time must not
 * disturb each other. */
static const Func *bind_loops(Tirc *c, const tirc_module *m, const char *name) {
  int at;
  const Func *f = tirc_api_func(c, m->m, name, &at);
  Binding b = {.c = c};
  tirc_visit_stmts(f->body, see_loop, &b);
  if (!b.loops.n) return f;
  Sched *s = tirc_api_schedule(c, m, &(tirc_schedule_options){0});
  for (int i = 0; i < b.loops.n; i++) {
    if (b.loops.at[i].noted) call(s, "unannotate", b.loops.at[i].loop, tirc_key(KEY_PE));
    call(s, "bind", b.loops.at[i].loop, b.loops.at[i].axis);
  }
  return s->mod->funcs[at];
}

/* --- the door --------------------------------------------------------------------------------- */

static const ArraySpec *read_spec(Tirc *c, const Spatial *p) {
  const char *name = p->o.spec_name ? p->o.spec_name : "array";
  ArraySpec *spec = tirc_copy(c, tirc_array_spec(c, name, p->spec, strlen(p->spec)), 1);
  const bool own = p->o.item_bits == TIRC_OWN_BITS && p->log;
  if (!own && (p->o.item_bits < 0 || p->o.item_bits > 4096))
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "an item has 1 to 4096 bits, not %lld",
              (long long)p->o.item_bits);
  if (p->o.item_bits) spec->item_bits = own ? 0 : p->o.item_bits;
  return spec;
}

static void of_spec(Tirc *c, void *self) {
  Spatial *p = self;
  const char *json = tirc_value_to_json(c, tirc_spec_report(c, read_spec(c, p)));
  p->json = tirc_api_copy(c, json, strlen(json));
}

tirc_status tirc_spatial_spec(const char *spec, const tirc_spatial_options *options, char **json,
                              tirc_error **error) {
  NEED(spec, json);
  Spatial p = {.spec = spec};
  if (options) p.o = *options;
  const tirc_status status = tirc_api_scratch(of_spec, &p, NULL, error);
  if (status == TIRC_OK) *json = p.json;
  return status;
}

static void spatial(Tirc *c, void *self) {
  Spatial *p = self;
  tirc_context_depend(c, p->m->c);
  const ArraySpec *spec = read_spec(c, p);
  const Func *f = bind_loops(c, p->m, p->func);
  const CostOptions o = {p->o.block, p->o.allow_cycles, p->o.formulas, p->o.enumerate, p->o.most};
  const char *json = tirc_value_to_json(c, tirc_cost_report(c, f, spec, &o));
  p->json = tirc_api_copy(c, json, strlen(json));
}

tirc_status tirc_module_spatial_cost(const tirc_module *m, const char *func, const char *spec,
                                     const tirc_spatial_options *options, char **json,
                                     tirc_error **error) {
  NEED(m, spec, json);
  Spatial p = {.m = m, .func = func, .spec = spec};
  if (options) p.o = *options;
  const tirc_status status = tirc_api_scratch(spatial, &p, &m->sources, error);
  if (status == TIRC_OK) *json = p.json;
  return status;
}

/* --- the array runs --------------------------------------------------------------------------- */

static void run(Tirc *c, void *self) {
  Spatial *p = self;
  tirc_context_depend(c, p->m->c);
  const ArraySpec *spec = read_spec(c, p);
  const Func *f = bind_loops(c, p->m, p->func);
  const Mapping *m = tirc_mapping(c, f, p->o.block);
  tirc_mapping_fits(m, spec);
  const Counts counts = tirc_run_array(c, f, m, spec, p->n_args,
                                       tirc_api_arguments(c, f, p->n_args, p->args), p->max_steps);
  tirc_require_same_counts(m, counts, tirc_count_mapping(c, m, spec));
  const CostOptions o = {p->o.block, p->o.allow_cycles, p->o.formulas, p->o.enumerate, p->o.most};
  const char *json = tirc_value_to_json(c, tirc_cost_report(c, f, spec, &o));
  p->json = tirc_api_copy(c, json, strlen(json));
}

tirc_status tirc_module_spatial_run(const tirc_module *m, const char *func, const char *spec, int n,
                                    const tirc_argument *args, int64_t max_steps,
                                    const tirc_spatial_options *options, char **json,
                                    tirc_error **error) {
  NEED(m, spec, LIST(n, args), COUNT(max_steps), json);
  Spatial p = {
      .m = m, .func = func, .spec = spec, .n_args = n, .args = args, .max_steps = max_steps};
  if (options) p.o = *options;
  const tirc_status status = tirc_api_scratch(run, &p, &m->sources, error);
  if (status == TIRC_OK) *json = p.json;
  return status;
}

/* --- a log of products ------------------------------------------------------------------------ */

static Dataflow read_dataflow(Tirc *c, const char *name) {
  for (int i = 0; name && i < N_DATAFLOWS; i++)
    if (!strcmp(name, tirc_dataflow_names[i])) return (Dataflow)i;
  if (name)
    tirc_fail(c, (Loc){0}, CODE_PE_ARRAY,
              "use os (output stationary), ws (weight stationary) or is (input stationary)",
              "there is no dataflow \"%s\"", name);
  return OUTPUT_STATIONARY;
}

static void of_log(Tirc *c, void *self) {
  Spatial *p = self;
  const Dataflow how = read_dataflow(c, p->dataflow);
  const ArraySpec *spec = read_spec(c, p);
  const Value v =
      tirc_log_report(c, p->log_name ? p->log_name : "log", p->log ? p->log : "", p->n, spec, how);
  const char *json = tirc_value_to_json(c, v);
  p->json = tirc_api_copy(c, json, strlen(json));
}

tirc_status tirc_spatial_log_cost(const char *log, size_t n, const char *log_name, const char *spec,
                                  const char *dataflow, const tirc_spatial_options *options,
                                  char **json, tirc_error **error) {
  NEED(LIST(n, log), spec, json);
  Spatial p = {.spec = spec, .log = log, .n = n, .log_name = log_name, .dataflow = dataflow};
  if (options) p.o = *options;
  const tirc_status status = tirc_api_scratch(of_log, &p, NULL, error);
  if (status == TIRC_OK) *json = p.json;
  return status;
}
