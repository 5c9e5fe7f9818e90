/* Traces as Python scripts, and as the lists that TVM's tuning records hold. */
#include "ir/tree/print.h"
#include "trace.h"

#include <stdlib.h>

/* --- names ------------------------------------------------------------------------------------ */

static void define(Tirc *c, RVNames *names, const Instruction *inst) {
  const Value *outputs;
  int n = tirc_instruction_outputs(inst, &outputs);
  for (int i = 0; i < n; i++) {
    char letter = outputs[i].kind == VAL_BLOCK ? 'b' : outputs[i].kind == VAL_LOOP ? 'l' : 'v';
    tirc_map_set(c, &names->of, (void *)(uintptr_t)outputs[i].rv,
                 tirc_format(c, "%c%d", letter, names->n++));
  }
}

const char *tirc_rv_name(const RVNames *names, Value v) {
  if (v.rv && tirc_map_has(&names->of, (void *)(uintptr_t)v.rv))
    return tirc_map_get(&names->of, (void *)(uintptr_t)v.rv);
  return v.kind == VAL_BLOCK || v.kind == VAL_LOOP ? "_" : NULL;
}

const char *tirc_text_with_rvs(Tirc *c, const char *text, const RVNames *names) {
  Text t = {.c = c};
  for (const char *at = text, *from; (from = strchr(at, '$')) != NULL || *at;) {
    tirc_text_addn(&t, at, from ? (size_t)(from - at) : strlen(at));
    if (!from) break;
    char *end;
    const Value rv = {.kind = VAL_INT, .rv = (uint32_t)strtoul(from + 1, &end, 10)};
    const char *name = names ? tirc_rv_name(names, rv) : NULL;
    tirc_text_add(&t, name ? name : "_");
    at = end + (*end == '$');
  }
  return t.at ? t.at : text;
}

/* --- Python ----------------------------------------------------------------------------------- */

static void add_string(Text *t, const char *s) {
  tirc_text_add(t, "\"");
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      tirc_text_addn(t, (char[]){'\\', *s}, 2);
    else if (*s == '\n')
      tirc_text_add(t, "\\n");
    else if ((unsigned char)*s < 32 || *s == 127)
      tirc_text_addf(t, "\\x%02x", (unsigned)(unsigned char)*s);
    else
      tirc_text_addn(t, s, 1);
  }
  tirc_text_add(t, "\"");
}

static void add_value(Text *t, Value v, int depth, const void *names) {
  const char *name = tirc_rv_name(names, v);
  if (name)
    tirc_text_add(t, name);
  else if (v.kind == VAL_STR)
    add_string(t, v.u.s);
  else if (tirc_is_container(v))
    tirc_add_container(t, v, depth, add_value, names);
  else if (v.kind == VAL_FUNCTION)
    tirc_text_add(t, tirc_text_with_rvs(t->c, ((const Callable *)v.u.object)->name, names));
  else if (tirc_value_is_python(v))
    tirc_text_add(t, tirc_text_with_rvs(t->c, v.u.object, names));
  else if (v.kind == VAL_BUFFER)
    add_string(t, v.u.buffer->name);
  else
    tirc_text_add(t, tirc_value_repr(t->c, v));
}

static void add_results(Text *t, const Instruction *inst, const RVNames *names) {
  const Value *outputs;
  int n = tirc_instruction_outputs(inst, &outputs);
  for (int i = 0; i < n; i++)
    tirc_text_addf(t, "%s%s", i ? ", " : "", tirc_rv_name(names, outputs[i]));
  if (n == 1 && inst->result.kind == VAL_LIST) tirc_text_add(t, ",");
  if (n) tirc_text_add(t, " = ");
}

static bool is_left_out(const Param *p, Value v) {
  return p->kind == PARAM_OPT_BLOCKS && (v.kind == VAL_NONE || v.u.list->n == 0);
}

static void add_argument(Text *t, const Param *p, Value v, bool positional, const RVNames *names) {
  if (p->kind == PARAM_LOOPS) {
    for (int i = 0; i < v.u.list->n; i++) {
      if (i) tirc_text_add(t, ", ");
      add_value(t, v.u.list->at[i], 0, names);
    }
    return;
  }
  if (!positional) tirc_text_addf(t, "%s=", p->name);
  add_value(t, v, 0, names);
}

const char *tirc_instruction_python(Tirc *c, const Instruction *inst, RVNames *names) {
  Text arguments = {.c = c}, t = {.c = c};
  bool positional = inst->p->flags & INST_POSITIONAL;
  for (int i = 0; i < inst->p->n_params; i++) {
    if (is_left_out(&inst->p->params[i], inst->args[i])) continue;
    if (arguments.n) tirc_text_add(&arguments, ", ");
    add_argument(&arguments, &inst->p->params[i], inst->args[i], positional, names);
  }
  define(c, names, inst);
  add_results(&t, inst, names);
  tirc_text_addf(&t, "sch.%s(%s)", tirc_word_in(names->dialect, WORD_METHOD, inst->p->name),
                 arguments.n ? arguments.at : "");
  return t.at;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* Above the calls that a rule makes for one reason: which, and why. */
static void add_reason(Text *t, const Instruction *before, const Instruction *inst) {
  const bool same_rule = before && same_text(before->rule, inst->rule);
  if (!inst->rule || (same_rule && same_text(before->reason, inst->reason))) return;
  tirc_text_addf(t, "\n  # rule %s%s", inst->rule, inst->reason ? ": " : "");
  for (const char *s = inst->reason; s && *s; s++)
    tirc_text_addn(t, *s == '\n' || *s == '\r' ? " " : s, 1);
}

const char *tirc_trace_python(Tirc *c, const Trace *trace, bool remove_postproc, Dialect d) {
  static const char *const modules[N_DIALECTS] = {"tir", "s_tir"};
  Text t = {.c = c};
  RVNames names = {.dialect = d};
  const int n = tirc_trace_length(trace, remove_postproc);
  tirc_text_addf(&t, "# from tvm import %s\ndef apply_trace(sch: %s.Schedule) -> None:", modules[d],
                 modules[d]);
  for (int i = 0; i < n; i++) {
    add_reason(&t, i ? trace->at[i - 1] : NULL, trace->at[i]);
    tirc_text_addf(&t, "\n  %s", tirc_instruction_python(c, trace->at[i], &names));
  }
  if (n == 0) tirc_text_add(&t, "\n  pass");
  return t.at;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* A value of an attribute or a decision: as it is, but for what has no form in JSON. */
static Value plain(Tirc *c, Value v, const RVNames *names) {
  int64_t constant;
  v.rv = 0;
  if (v.kind == VAL_BOOL) return tirc_value_int(v.u.b);
  if (v.kind == VAL_EXPR && tirc_const_int(v.u.expr, &constant)) return tirc_value_int(constant);
  if (v.kind == VAL_EXPR && v.u.expr->op == OP_FLOAT) return tirc_value_float(v.u.expr->u.f);
  if (v.kind == VAL_EXPR && v.u.expr->op == OP_LARGE_UINT) return v;
  if (v.kind == VAL_EXPR) return tirc_value_str(tirc_print_expr(c, v.u.expr));
  if (v.kind == VAL_FUNCTION) return tirc_value_str(tirc_recorded_function(c, v, names));
  if (v.kind == VAL_BUFFER) return tirc_value_str(v.u.buffer->name);
  if (tirc_value_is_python(v)) return tirc_value_str(tirc_text_with_rvs(c, v.u.object, names));
  if (!tirc_is_container(v)) return v;
  Value out =
      tirc_value_list(c, v.kind == VAL_DICT ? VAL_DICT : VAL_LIST, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++) out.u.list->at[i] = plain(c, out.u.list->at[i], names);
  return out;
}

/* An input: a random variable is its name, so a string gets quotes and None is a word. */
static Value input(Tirc *c, Value v, const RVNames *names) {
  const char *name = tirc_rv_name(names, v);
  if (name) return tirc_value_str(name);
  if (v.kind == VAL_NONE) return tirc_value_str("None");
  if (v.kind == VAL_STR) return tirc_value_str(tirc_format(c, "\"%s\"", v.u.s));
  if (!tirc_is_sequence(v)) return plain(c, v, names);
  Value out = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < v.u.list->n; i++) tirc_value_append(c, out, input(c, v.u.list->at[i], names));
  return out;
}

static Value list4(Tirc *c, Value a, Value b, Value d, Value e) {
  return tirc_value_list(c, VAL_LIST, 4, (Value[]){a, b, d, e});
}

static Value instruction_value(Tirc *c, const Instruction *inst, RVNames *names) {
  Value inputs = tirc_value_list(c, VAL_LIST, 0, NULL),
        attrs = tirc_value_list(c, VAL_LIST, 0, NULL);
  Value results = tirc_value_list(c, VAL_LIST, 0, NULL);
  tirc_instruction_inputs(c, inst, inputs);
  tirc_instruction_attrs(c, inst, attrs);
  for (int i = 0; i < inputs.u.list->n; i++)
    inputs.u.list->at[i] = input(c, inputs.u.list->at[i], names);
  const Value *outputs;
  int n = tirc_instruction_outputs(inst, &outputs);
  define(c, names, inst);
  for (int i = 0; i < n; i++)
    tirc_value_append(c, results, tirc_value_str(tirc_rv_name(names, outputs[i])));
  const char *kind = tirc_word_in(names->dialect, WORD_INSTRUCTION, inst->p->instruction);
  return list4(c, tirc_value_str(kind), inputs, plain(c, attrs, names), results);
}

Value tirc_trace_as_value(Tirc *c, const Trace *t, bool remove_postproc, Dialect d) {
  Value instructions = tirc_value_list(c, VAL_LIST, 0, NULL);
  Value decisions = tirc_value_list(c, VAL_LIST, 0, NULL);
  RVNames names = {.dialect = d};
  const int n = tirc_trace_length(t, remove_postproc);
  for (int i = 0; i < n; i++) {
    const Value *decision = tirc_instruction_decision(t->at[i]);
    tirc_value_append(c, instructions, instruction_value(c, t->at[i], &names));
    if (!decision || decision->kind == VAL_NONE) continue;
    Value entry[] = {tirc_value_int(i), plain(c, *decision, NULL)};
    tirc_value_append(c, decisions, tirc_value_list(c, VAL_LIST, 2, entry));
  }
  return tirc_value_list(c, VAL_LIST, 2, (Value[]){instructions, decisions});
}
