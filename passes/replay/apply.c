/* A trace done again on another (or the same) schedule. See replay.h. */
#include "replay.h"

#include "ir/tree/visit.h"
#include "passes/record/recorded_map.h"
#include "passes/schedule/state/nodes.h"

#include <stdlib.h>

typedef struct Replay {
  Sched *s;
  const Trace *t;
  PtrMap values; /* number -> the Value * it is here */
  const DecisionProvider *asked;
  bool asking;      /* what is raised now is the provider's, perhaps of a trace that it applies */
  const SRef *part; /* names are those of blocks in this one, the function's root; or NULL */
  Loc loc;
  const char *what;
} Replay;

static const Value *value_here(const Replay *r, uint32_t rv) {
  return rv ? tirc_map_get(&r->values, (void *)(uintptr_t)rv) : NULL;
}

static Expr rv_variable(Tirc *c, Value v) {
  return tirc_var(c, tirc_format(c, "$%u$", v.rv), DT_INT32);
}

/* A recorded map with the random variables of here. */
static Value map_of_here(Replay *r, const RecordedMap *from) {
  Tirc *c = r->s->c;
  PtrMap map = {0};
  RecordedMap *m = tirc_new(c, RecordedMap);
  Value *rvs = tirc_new_array(c, Value, from->n_rvs);
  *m = *from;
  m->rvs = rvs;
  m->rv_vars = tirc_new_array(c, Expr, from->n_rvs);
  for (int i = 0; i < from->n_rvs; i++) {
    const Value *here = value_here(r, from->rvs[i].rv);
    rvs[i] = here && here->kind == VAL_INT ? *here : from->rvs[i];
    m->rv_vars[i] = rv_variable(c, rvs[i]);
    tirc_map_set(c, &map, from->rv_vars[i], m->rv_vars[i]);
  }
  m->results = tirc_value_substituted(c, from->results, &map);
  return tirc_map_value(m);
}

/* A map from text: lambda i0: (i0 // $17$,), which is called as lambda r17: lambda i0: ... */
static Value map_of_text(Replay *r, const char *text) {
  Tirc *c = r->s->c;
  Text outer = {.c = c}, inner = {.c = c};
  VEC(Value) rvs = {0}, vars = {0};
  VEC(Expr) exprs = {0};
  tirc_text_add(&outer, "lambda");
  for (const char *at = text, *from; (from = strchr(at, '$')) != NULL || *at;) {
    tirc_text_addn(&inner, at, from ? (size_t)(from - at) : strlen(at));
    if (!from) break;
    char *end;
    const uint32_t rv = (uint32_t)strtoul(from + 1, &end, 10);
    const Value *here = value_here(r, rv);
    if (!here || here->kind != VAL_INT)
      tirc_fail(c, r->loc, CODE_TRACE, NULL,
                "an index map contains a random variable that is not a number");
    int k = 0;
    while (k < rvs.n && rvs.at[k].rv != here->rv) k++;
    if (k == rvs.n) {
      tirc_text_addf(&outer, "%s r%d", k ? "," : "", k);
      vec_push(c, rvs, *here);
      vec_push(c, exprs, rv_variable(c, *here));
      vec_push(c, vars, tirc_value_expr(exprs.at[k]));
    }
    tirc_text_addf(&inner, "r%d", k);
    at = end + (*end == '$');
  }
  tirc_text_addf(&outer, ": %s", inner.at);
  const Value made = r->s->eval(r->s, outer.at, r->loc);
  Callable *fn = made.u.object;
  const Value map = fn->call(fn, vars.n, vars.at);
  fn = map.kind == VAL_FUNCTION ? map.u.object : NULL;
  if (!fn || fn->n_params < 0)
    tirc_fail(c, r->loc, CODE_TRACE, NULL, "this is not an index map: %s", text);
  RecordedMap *m = tirc_new(c, RecordedMap);
  *m = (RecordedMap){.base = {tirc_call_map, fn->n_params, NULL},
                     .c = c,
                     .vars = tirc_map_variables(c, fn->n_params),
                     .n_rvs = rvs.n,
                     .rv_vars = exprs.at,
                     .rvs = rvs.at};
  Value *args = tirc_new_array(c, Value, fn->n_params + 1);
  for (int i = 0; i < fn->n_params; i++) args[i] = tirc_value_expr(m->vars[i]);
  m->results = fn->call(fn, fn->n_params, args);
  return tirc_map_value(m);
}

static Value translated(Replay *r, Value v) {
  Tirc *c = r->s->c;
  const Value *here = value_here(r, v.rv);
  if (here) return *here;
  if (tirc_value_is_python(v) && r->s->eval)
    return strchr(v.u.object, '$') ? map_of_text(r, v.u.object)
                                   : r->s->eval(r->s, v.u.object, r->loc);
  if (tirc_value_is_python(v)) return v;
  if (v.kind == VAL_FUNCTION && ((const Callable *)v.u.object)->call == tirc_call_map)
    return map_of_here(r, v.u.object);
  if (!tirc_is_container(v)) return v;
  Value out = tirc_value_list(c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++) out.u.list->at[i] = translated(r, out.u.list->at[i]);
  return out;
}

static void take_results(Replay *r, const Instruction *inst, Value result) {
  Tirc *c = r->s->c;
  const Instruction now = {.p = inst->p, .result = result};
  const Value *then_at, *now_at;
  const int n = tirc_instruction_outputs(inst, &then_at),
            m = tirc_instruction_outputs(&now, &now_at);
  if (n != m)
    tirc_fail(c, r->loc, CODE_TRACE, "the trace was recorded for another program",
              "it has %d result%s here, but %d in the trace", m, m == 1 ? "" : "s", n);
  for (int i = 0; i < n; i++) {
    Value *kept = tirc_copy(c, &now_at[i], 1);
    tirc_map_set(c, &r->values, (void *)(uintptr_t)then_at[i].rv, kept);
  }
}

/* The instruction with what it gets here, and the decision of the provider. */
static Instruction asked_again(Replay *r, const Instruction *inst) {
  Tirc *c = r->s->c;
  const Value *own = tirc_instruction_decision(inst);
  Value inputs = tirc_value_list(c, VAL_LIST, 0, NULL);
  Value attrs = tirc_value_list(c, VAL_LIST, 0, NULL);
  tirc_instruction_inputs(c, inst, inputs);
  tirc_instruction_attrs(c, inst, attrs);
  for (int i = 0; i < inputs.u.list->n; i++)
    inputs.u.list->at[i] = translated(r, inputs.u.list->at[i]);
  r->asking = true;
  Value decision = r->asked->decide(r->asked->self, inst, inputs, attrs, own ? *own : VALUE_NONE);
  r->asking = false;
  if (!own && decision.kind != VAL_NONE)
    tirc_fail(c, r->loc, CODE_TRACE, "return the decision that the provider received",
              "it takes no decision, but the decision provider returned one");
  Instruction with = *inst;
  with.args = tirc_arguments_with(c, inst, decision);
  return with;
}

/* Whether `is` is `name` with something put in: max_n_4_rf is max_rf. */
static bool is_extended(const char *name, const char *is) {
  const size_t n = strlen(name), m = strlen(is);
  size_t before = 0;
  if (m <= n) return m == n && !strcmp(name, is);
  while (before < n && name[before] == is[before]) before++;
  for (size_t k = before + 1; k-- > 0;)
    if (is[k] == '_' && !strcmp(name + k, is + m - (n - k))) return true;
  return false;
}

typedef struct Named {
  const char *name, *found; /* the shortest of those that extend it */
} Named;

static bool look_at_name(Visitor *v, Stmt s) {
  Named *n = v->self;
  if (s->kind == STMT_BLOCK && is_extended(n->name, s->u.block.name) &&
      (!n->found || strlen(s->u.block.name) < strlen(n->found)))
    n->found = s->u.block.name;
  return true;
}

/* What get_block is to look for. */
static Value name_here(const Replay *r, const char *name) {
  Tirc *c = r->s->c;
  const Block *part = tirc_block_of(r->part);
  if (!strcmp(name, "root")) return tirc_value_str(part->name);
  Named n = {.name = name};
  tirc_visit_stmt(&(Visitor){.stmt = look_at_name, .self = &n}, part->body);
  if (!n.found) tirc_fail(c, r->loc, CODE_TRACE, NULL, "%s has no block like %s", part->name, name);
  return tirc_value_str(n.found);
}

static Instruction asked_of_part(const Replay *r, const Instruction *inst) {
  Tirc *c = r->s->c;
  Instruction with = *inst;
  Value *args = tirc_new_array(c, Value, inst->p->n_params + 1);
  for (int i = 0; i < inst->p->n_params; i++) {
    args[i] = inst->args[i];
    const bool is_name = !strcmp(inst->p->name, "get_block") && i == 0;
    if (is_name && args[i].kind == VAL_STR) args[i] = name_here(r, args[i].u.s);
    if (inst->p->params[i].kind == PARAM_FUNC && strcmp(inst->p->name, "get_block") != 0)
      tirc_fail(c, r->loc, CODE_TRACE, NULL, "%s works on a whole function", inst->p->name);
    if (inst->p->params[i].kind == PARAM_FUNC)
      args[i] = tirc_value_str(r->s->mod->funcs[r->part->func]->name);
  }
  with.args = args;
  return with;
}

static void replay(Replay *r, const Instruction *inst) {
  Tirc *c = r->s->c;
  const Primitive *p = inst->p;
  const Instruction with = r->part    ? asked_of_part(r, inst)
                           : r->asked ? asked_again(r, inst)
                                      : *inst;
  const char **names = tirc_new_array(c, const char *, p->n_params + 1);
  Value *keywords = tirc_new_array(c, Value, p->n_params + 1), star = VALUE_NONE;
  int n = 0;
  for (int i = 0; i < p->n_params; i++) {
    Value v = translated(r, with.args[i]);
    if (p->params[i].kind == PARAM_LOOPS) {
      star = v;
      continue;
    }
    names[n] = p->params[i].name;
    keywords[n++] = v;
  }
  Args args = {.n_keywords = n, .names = names, .keywords = keywords};
  if (star.kind != VAL_NONE) args.n = star.u.list->n, args.at = star.u.list->at;
  Value result = tirc_sched_call(r->s, p, r->loc, &args);
  take_results(r, inst, result);
}

static void replay_or_say_where(Replay *r, int i) {
  Tirc *c = r->s->c;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    replay(r, r->t->at[i]);
    TIRC_END(c, trap);
    return;
  }
  if (!r->asking)
    c->diag.message = tirc_format(c, "%s, instruction %d (%s): %s", r->what, i,
                                  r->t->at[i]->p->instruction, c->diag.message);
  tirc_throw(c);
}

void tirc_trace_apply(Sched *s, const Trace *t, bool remove_postproc, const DecisionProvider *asked,
                      Loc loc, const char *what) {
  Replay r = {.s = s, .t = t, .asked = asked, .loc = loc, .what = what};
  const int n = tirc_trace_length(t, remove_postproc);
  for (int i = 0; i < n; i++) replay_or_say_where(&r, i);
}

void tirc_trace_apply_in(Sched *s, const Trace *t, Value part, const char *what) {
  Replay r = {.s = s, .t = t, .part = tirc_sref_of_value(s, part), .what = what};
  const int n = tirc_trace_length(t, false);
  for (int i = 0; i < n; i++) {
    r.part = tirc_sref_of_value(s, part);
    replay_or_say_where(&r, i);
  }
}
